#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/monitors/monitor_owner.hpp"

#include <boost/json/array.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A built-in relabelling rule. Missing parts are not generated: Prometheus' defaults apply.
struct BuiltInRule {
    std::string_view action{};
    std::vector<std::string> sources{};
    std::string_view separator{};
    std::optional<std::string> regex{};
    std::string target{};
    std::optional<std::string> replacement{};
    std::uint64_t modulus = 0;
};

/// The list `relabel_configs` or `metric_relabel_configs` of a job.
class RuleList {
 public:
    void add(const BuiltInRule&);
    void add(JobObject rule) { rules_.push_back(std::move(rule)); }
    /// `(source) → target`.
    void copy_label(std::string_view source, std::string_view target) {
        add({.sources = {std::string(source)}, .target = std::string(target)});
    }
    /// `(source; (.+)) → target = ${1}`: an absent source leaves the target alone.
    void copy_label_if_present(std::string source, std::string target) {
        add({.sources = {std::move(source)},
             .regex = "(.+)",
             .target = std::move(target),
             .replacement = "${1}"});
    }
    /// `→ target = text`.
    void set_label(std::string_view target, std::string_view text) {
        add({.target = std::string(target), .replacement = std::string(text)});
    }
    /// The rules of an object, a class or an owner, in its spelling.
    void add_user_rules(const std::vector<ObjectView>& rules);

    /// Whether a rule has the action `hashmod`.
    bool has_hashmod() const noexcept;
    bool empty() const noexcept { return rules_.empty(); }
    boost::json::array take() { return std::move(rules_); }

    RuleList() = default;
    explicit RuleList(boost::json::array rules) : rules_(std::move(rules)) {}

 private:
    boost::json::array rules_;
};

/// Refuses invalid rules of an object, a class or an owner.
void check_relabelings(const std::vector<ObjectView>& rules, const JobContext&);

/// Whether the version of Prometheus accepts a label name: from 3 on any UTF-8.
bool is_label_name_for(std::string_view name, const MonitorVersion&);

}  // namespace k8s_sd::inline v0::detail
