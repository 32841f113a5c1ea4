#pragma once

#include "k8s_sd/target_group.hpp"
#include "table/row_reader.hpp"
#include "table/target_table.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// Lets work continue for this many rows.
inline k8s_sd_program::GoesOn rows_at_most(std::size_t rows) {
    return [rows]() mutable { return --rows != 0; };
}

/// A job "web" and the table of its targets, all from provider 1.
class TableJob {
 public:
    explicit TableJob(std::vector<k8s_sd::RelabelRule> rules = {}, const std::string& name = "web")
        : builder(config_with(std::move(rules), name)), table(builder, {}) {}

    static k8s_sd::ScrapeConfig config_with(std::vector<k8s_sd::RelabelRule> rules,
                                            const std::string& name = "web") {
        k8s_sd::ScrapeConfig config;
        config.job_name = name;
        config.relabel_configs = std::move(rules);
        return config;
    }
    static k8s_sd::RelabelRule rule(k8s_sd::RelabelAction action, const std::string& label,
                                    const std::string& regex) {
        k8s_sd::RelabelRule rule;
        rule.action = action;
        if (!label.empty()) rule.source_labels = {label};
        rule.regex = regex;
        return rule;
    }
    static k8s_sd::RelabelRule copy(const std::string& label, const std::string& to) {
        k8s_sd::RelabelRule made = rule(k8s_sd::RelabelAction::replace, label, "(.+)");
        made.target_label = to;
        return made;
    }

    k8s_sd::TargetGroupPtr group(const std::string& source,
                                 const std::vector<k8s_sd::LabelMap>& targets) {
        return maker.make(source, {}, targets);
    }
    void put(const std::string& source, const std::vector<k8s_sd::LabelMap>& targets) {
        table.put(1, group(source, targets));
    }
    /// A pod with one target.
    void put_pod(const std::string& name, const std::string& address,
                 k8s_sd::LabelMap labels = {}) {
        labels["__address__"] = address;
        labels["__meta_kubernetes_namespace"] = "shop";
        labels["__meta_kubernetes_pod_name"] = name;
        put("pod/shop/" + name, {labels});
    }
    const k8s_sd_program::TargetRow* row(const std::string& address) const {
        for (const k8s_sd_program::TargetRow& known : table.rows()) {
            if (known.address == address) return &known;
        }
        return nullptr;
    }
    k8s_sd_program::TargetState state(const std::string& address) const {
        return row(address)->state;
    }

    k8s_sd::TargetGroupMaker maker;
    k8s_sd::TargetBuilder builder;
    k8s_sd_program::TargetTable table;
};
