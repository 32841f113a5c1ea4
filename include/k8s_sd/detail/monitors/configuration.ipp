#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/monitors/quota.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/monitors/monitor_configuration.hpp"

#include <boost/json/array.hpp>
#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace {

using detail::Generation;
using detail::operator+;
using ReferencedObject = std::tuple<MonitorReference::Kind, std::string, std::string>;

ReferencedObject object_of(const MonitorReference& reference) {
    return {reference.kind, reference.object_namespace, reference.name};
}

/// The values of MonitorInputs.
class InputValues final : public detail::ReferenceSource {
 public:
    explicit InputValues(const std::map<MonitorReference, std::string>& values) : values_(values) {
        for (const auto& [reference, value] : values) objects_.insert(object_of(reference));
    }

    detail::ReferencedValue find(const MonitorReference& reference) const override {
        using State = detail::ReferencedValue::State;
        const auto found = values_.find(reference);
        if (found != values_.end()) return {State::found, found->second};
        return {objects_.contains(object_of(reference)) ? State::no_key : State::no_object, {}};
    }
    bool is_loaded(const MonitorReference& reference) const override {
        return loaded_.contains(object_of(reference));
    }
    void load(const std::set<MonitorReference>& references) {
        for (const MonitorReference& reference : references) loaded_.insert(object_of(reference));
    }

 private:
    const std::map<MonitorReference, std::string>& values_;
    std::set<ReferencedObject> objects_;
    std::set<ReferencedObject> loaded_;
};

/// A monitor of the inputs.
struct MonitorEntry {
    const boost::json::value* object = nullptr;
    detail::MonitorLabels labels{};
    Generation generation{};
    MonitorQuota size{.jobs = 0, .bytes = 0};  ///< of the generated jobs
    bool is_dropped = false;                   ///< the jobs, since the quota did not suffice
};

/// In the order of the operator: byte order of "namespace/name".
using MonitorEntries = std::map<std::string, MonitorEntry>;

/// Selects, validates and generates.
class ConfigurationMaker {
 public:
    ConfigurationMaker(const MonitorInputs& inputs, const MonitorOptions& options)
        : inputs_(inputs), options_(options), values_(inputs.values) {}

    MonitorConfiguration make() {
        detail::OwnerReading reading =
            detail::read_owner(inputs_.owner, inputs_.owner_namespace, options_, values_);
        MonitorConfiguration result;
        result.refusal = std::move(reading.refusal);
        if (!reading.owner) return result;
        owner_ = std::move(*reading.owner);
        for (const boost::json::value& object : inputs_.objects) select(object);
        generate_all();
        // Credentials of a scrape class depend on the references of all valid objects.
        if (needs_loaded_) generate_all();
        share_quota();
        Generation additional = detail::generate_additional(owner_, options_, values_);
        result.refusal = std::move(additional.refusal);
        report(result);
        if (!result.refusal) result.config = configuration(std::move(additional));
        return result;
    }

 private:
    std::span<const MonitorKind> kinds() const noexcept {
        if (owner_.vm) return vm_monitor_kinds;
        return monitor_kinds;
    }
    static std::size_t index_of(MonitorKind kind) { return static_cast<std::size_t>(kind); }

    void select(const boost::json::value& object) {
        detail::Faults faults;
        const detail::ObjectView view(&object, "", faults);
        const auto kind = detail::monitor_kind_of(view.text("kind"));
        const detail::ObjectView metadata = view["metadata"];
        const std::string object_namespace(metadata.text("namespace"));
        const auto found = inputs_.namespaces.find(object_namespace);
        if (!kind || found == inputs_.namespaces.end()) return;
        MonitorEntry entry{.object = &object};
        for (const auto& [name, value] : metadata["labels"].members()) {
            entry.labels.emplace(name, value.as_text().value_or(""));
        }
        const auto selected =
            detail::selection(owner_, *kind, object_namespace, entry.labels, found->second);
        if (selected != detail::Unselected::selected) return;
        const std::string key = object_namespace + "/" + std::string(metadata.text("name"));
        monitors_[index_of(*kind)].insert_or_assign(key, std::move(entry));
    }

    void generate_all() {
        all_ = {.jobs = 0, .bytes = 0};
        for (const MonitorKind kind : kinds()) {
            for (auto& [key, entry] : monitors_[index_of(kind)]) {
                generate(kind, entry);
                if (!entry.generation.refusal) values_.load(entry.generation.references);
                needs_loaded_ |= !entry.generation.class_references.empty();
                // Memory is bounded, whichever monitors get the quota in the end.
                all_ = all_ + entry.size;
                entry.is_dropped = !detail::fits(all_, inputs_.quota);
                if (entry.is_dropped) entry.generation.jobs.clear();
            }
        }
    }

    void generate(MonitorKind kind, MonitorEntry& entry) {
        entry.generation =
            detail::generate(owner_, kind, *entry.object, options_, values_, &known_rules_);
        entry.size = {.jobs = entry.generation.jobs.size(), .bytes = entry.generation.bytes};
        if (entry.generation.refusal) entry.size = {.jobs = 0, .bytes = 0};
    }

    void share_quota() {
        if (detail::fits(all_, inputs_.quota)) return;
        std::vector<detail::QuotaRequest> requests;
        std::vector<std::pair<MonitorKind, MonitorEntry*>> entries;
        for (const MonitorKind kind : kinds()) {
            for (auto& [key, entry] : monitors_[index_of(kind)]) {
                requests.push_back({std::string_view(key).substr(0, key.find('/')), entry.size});
                entries.emplace_back(kind, &entry);
            }
        }
        const std::vector<bool> granted = detail::share_quota(requests, inputs_.quota);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (granted[i] || entries[i].second->generation.refusal) continue;
            entries[i].second->generation = {.refusal = detail::over_quota(inputs_.quota)};
        }
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (granted[i] && entries[i].second->is_dropped)
                generate(entries[i].first, *entries[i].second);
        }
    }

    void report(MonitorConfiguration& result) const {
        for (const MonitorKind kind : kinds()) {
            for (const auto& [key, entry] : monitors_[index_of(kind)]) {
                const std::size_t slash = key.find('/');
                std::string name =
                    detail::object_name(kind, key.substr(0, slash), key.substr(slash + 1));
                if (entry.generation.refusal) {
                    result.refused.push_back({std::move(name), *entry.generation.refusal});
                } else {
                    result.accepted.push_back(std::move(name));
                }
            }
        }
    }

    boost::json::object configuration(Generation additional) {
        boost::json::array jobs;
        const auto append = [&](const Generation& generation) {
            for (const detail::GeneratedJob& job : generation.jobs) {
                jobs.push_back(job.config.to_json());
            }
        };
        const auto append_kind = [&](MonitorKind kind) {
            for (const auto& [key, entry] : monitors_[index_of(kind)]) append(entry.generation);
        };
        if (owner_.is_agent) {
            append_kind(MonitorKind::pod_monitor);
            append(additional);
        }
        for (const MonitorKind kind : kinds()) {
            if (!owner_.is_agent || kind != MonitorKind::pod_monitor) append_kind(kind);
        }
        if (!owner_.is_agent) append(additional);
        boost::json::object config;
        config["global"] = detail::global_section(owner_, options_);
        config["scrape_configs"] = std::move(jobs);
        return config;
    }

    const MonitorInputs& inputs_;
    const MonitorOptions& options_;
    InputValues values_;
    MonitorQuota all_{.jobs = 0, .bytes = 0};  ///< of the generated jobs
    MonitorOwner owner_;
    detail::GeneratedRules known_rules_;
    std::array<MonitorEntries, monitor_kind_count> monitors_;
    bool needs_loaded_ = false;
};

}  // namespace

MonitorConfiguration make_monitor_configuration(const MonitorInputs& inputs,
                                                const MonitorOptions& options) {
    return ConfigurationMaker(inputs, options).make();
}

}  // namespace k8s_sd::inline v0
