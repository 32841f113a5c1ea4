#include "differential/target_questions.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "k8s_sd/scrape/duration_text.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "support/groups.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

std::string text(const json::value& value) { return std::string(value.as_string()); }

LabelMap labels_of(const json::value& object) {
    LabelMap labels;
    for (const auto& [name, value] : object.as_object()) labels[name] = text(value);
    return labels;
}

json::object json_of(const LabelMap& labels) {
    json::object object;
    for (const auto& [name, value] : labels) object[name] = value;
    return object;
}

/// The job; nullopt if its rules are refused.
std::optional<TargetBuilder> builder_of(LabelDialect dialect, const Sharding& sharding,
                                        const json::object& question) {
    const json::object& job = question.at("job").as_object();
    ScrapeConfig config{.job_name = text(question.at("name")), .dialect = dialect};
    config.scrape_interval = parse_duration(text(job.at("scrape_interval")), dialect);
    if (const auto* timeout = job.if_contains("scrape_timeout")) {
        config.scrape_timeout = parse_duration(text(*timeout), dialect);
    }
    if (const auto* scheme = job.if_contains("scheme")) config.scheme = text(*scheme);
    if (const auto* path = job.if_contains("metrics_path")) config.metrics_path = text(*path);
    if (const auto* params = job.if_contains("params")) {
        for (const auto& [name, values] : params->as_object()) {
            for (const auto& value : values.as_array()) config.params[name].push_back(text(value));
        }
    }
    try {
        config.relabel_configs = parse_relabel_configs(json::serialize(job.at("relabel_configs")),
                                                       relabel_options(config));
        return TargetBuilder(config, sharding);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

/// As a program with `static_configs` has them: the address belongs to the target, the rest to the
/// group.
TargetGroupPtr group_of(const std::string& job, const LabelMap& target, std::size_t number) {
    LabelMap rest = target;
    rest.erase("__address__");
    rest["__meta_case"] = job + "." + std::to_string(number);
    return make_group("p", {{{"__address__", target.at("__address__")}}}, rest);
}

json::value entry_of(LabelDialect dialect, TargetBuilder& builder, const TargetGroupPtr& group) {
    const BuiltTarget built = builder.build(group, 0);
    if (std::holds_alternative<DropReason>(built)) return "dropped";
    if (const auto* error = std::get_if<TargetError>(&built)) {
        // vmagent counts targets without an address among those dropped by rules.
        const bool addressless = error->message.starts_with("there is no address");
        const bool dropped = dialect == LabelDialect::victoriametrics && addressless;
        return dropped ? json::value("dropped") : json::value();
    }
    const auto& target = *std::get<ScrapeTargetPtr>(built);
    json::object entry{{"labels", json_of(target.public_labels())}, {"url", target.url()}};
    if (dialect == LabelDialect::prometheus) {
        entry["interval"] = std::string(target.get("__scrape_interval__"));
        entry["timeout"] = std::string(target.get("__scrape_timeout__"));
    }
    return entry;
}

/// Whether the predicate holds for any rule.
template <class Predicate>
bool any_rule(const json::object& question, Predicate&& predicate) {
    const json::array& rules = question.at("job").at("relabel_configs").as_array();
    return std::any_of(rules.begin(), rules.end(),
                       [&](const json::value& rule) { return predicate(rule.as_object()); });
}

std::string field(const json::object& rule, std::string_view name) {
    const json::value* value = rule.if_contains(name);
    return value && value->is_string() ? text(*value) : "";
}

bool has_value_with(const LabelMap& target, std::string_view part) {
    return std::any_of(target.begin(), target.end(), [&](const auto& label) {
        return label.second.find(part) != std::string::npos;
    });
}

/// Relabels the target's labels in several orders Prometheus may use: if the results differ, the
/// outcome is random.
bool depends_on_order(const json::object& question, const LabelMap& target) {
    const std::string rules = json::serialize(question.at("job").at("relabel_configs"));
    const Relabeler relabeler(parse_relabel_configs(rules));
    std::vector<std::pair<std::string, std::string>> labels(target.begin(), target.end());
    labels.emplace_back("__meta_case", "0");
    std::optional<LabelMap> first;
    for (int order = 0; order < 24; ++order) {
        std::rotate(labels.begin(), labels.begin() + 1, labels.end());
        if (order % 5 == 0) std::reverse(labels.begin(), labels.end());
        if (order % 3 == 0) std::swap(labels.front(), labels[labels.size() / 2]);
        MutableLabels changed;
        for (const auto& [name, value] : labels) changed.set(name, value);
        if (!relabeler.apply(changed)) return false;
        if (!first) first = changed.to_map();
        if (changed.to_map() != *first) return true;
    }
    return false;
}

std::string reason_in_prometheus(const json::object& question, const json::value& theirs,
                                 std::size_t index) {
    if (theirs.is_object() && theirs.at("labels").as_object().contains("")) {
        return "labelmap makes a label without name there";
    }
    const LabelMap target = labels_of(question.at("targets").at(index));
    if (depends_on_order(question, target)) {
        return "of labels that labelmap gives one name, chance decides there";
    }
    return "";
}

/// The name of a label after labelmap or labelmap_all; unchanged if the rule ignores it.
std::string renamed(RelabelRule rule, std::string_view name) {
    const bool everywhere = rule.action == RelabelAction::labelmap_all;
    rule.action = everywhere ? RelabelAction::replace_all : RelabelAction::replace;
    rule.source_labels = {"name"};
    rule.target_label = "to";
    rule.if_.clear();
    MutableLabels labels;
    labels.set("name", name);
    labels.set("to", name);
    const Relabeler relabeler({rule}, {.dialect = LabelDialect::victoriametrics});
    return relabeler.apply(labels) ? std::string(labels.get("to")) : "";
}

/// Whether a rule gives two labels the same name, a label an empty name, or a label a name that it
/// also changes.
bool renames_in_disorder(const RelabelRule& rule, const MutableLabels& labels) {
    std::set<std::string> given;
    for (const auto& [name, value] : labels.labels()) {
        const std::string to = renamed(rule, name);
        if (to == name) continue;
        if (to.empty() || !given.insert(to).second) return true;
        if (!MutableLabels::find(labels.labels(), to)) continue;
        if (rule.action == RelabelAction::labelmap_all || renamed(rule, to) != to) return true;
    }
    return false;
}

/// Whether the template of a rule's target label expands to an empty name.
bool makes_label_without_name(RelabelRule rule, const MutableLabels& before) {
    if (rule.action != RelabelAction::replace) return false;
    rule.replacement = std::exchange(rule.target_label, "made_name");
    rule.if_.clear();
    MutableLabels labels;
    for (const auto& [name, value] : before.labels()) labels.set(name, value);
    labels.set("made_name", "not yet");
    const Relabeler relabeler({rule}, {.dialect = LabelDialect::victoriametrics});
    return relabeler.apply(labels) && labels.get("made_name").empty();
}

/// The case in which vmagent's rules treat the target's labels differently; empty: none.
std::string met_on_the_way(const json::object& question, const LabelMap& target) {
    const auto builder = builder_of(LabelDialect::victoriametrics, {}, question);
    MutableLabels labels;
    for (const auto& [name, value] : target) labels.set(name, value);
    const TargetGroupPtr group = group_of(text(question.at("name")), target, 0);
    const LabelMap discovered = builder->discovered(*group, 0);
    for (const auto& [name, value] : discovered) labels.append_if_absent(name, value);
    std::vector<Relabeler> relabelers;  // the labels reference their texts
    for (const RelabelRule& rule : builder->config().relabel_configs) {
        const bool renames =
            rule.action == RelabelAction::labelmap || rule.action == RelabelAction::labelmap_all;
        if (renames && renames_in_disorder(rule, labels)) {
            return "labelmap and labelmap_all read their own output there";
        }
        if (makes_label_without_name(rule, labels)) return "there are labels without a name there";
        relabelers.emplace_back(std::vector{rule}, relabel_options(builder->config()));
        if (!relabelers.back().apply(labels)) return "";
    }
    return "";
}

std::string reason_in_vmagent(const json::object& question, std::size_t index) {
    const LabelMap target = labels_of(question.at("targets").at(index));
    const auto action_has = [](const json::object& rule, std::string_view part) {
        return field(rule, "action").find(part) != std::string::npos;
    };
    const auto has_anchor = [](const std::string& regex) {
        return regex.find_first_of("^$") != std::string::npos;
    };
    if (any_rule(question,
                 [&](const json::object& rule) {
                     return field(rule, "replacement").find("{{") != std::string::npos;
                 }) &&
        has_value_with(target, "$")) {
        return "the value of a {{label}} is a template there";
    }
    if (any_rule(question, [&](const json::object& rule) {
            const bool capital =
                action_has(rule, "Labelmap_all") || action_has(rule, "Replace_all");
            return capital && has_anchor(field(rule, "regex"));
        })) {
        return "Labelmap_all and Replace_all lose ^ and $ there";
    }
    if (any_rule(question, [&](const json::object& rule) {
            static const std::regex inside(R"(\(.*[\^$].*\)[*+?{])");
            return std::regex_search(field(rule, "regex"), inside);
        })) {
        return "anchors inside of a repeated group are lost there";
    }
    return met_on_the_way(question, target);
}

}  // namespace

json::value answer_of_k8s_sd(LabelDialect dialect, const Sharding& sharding,
                             const json::object& question) {
    std::optional<TargetBuilder> builder = builder_of(dialect, sharding, question);
    if (!builder) return nullptr;
    json::array answer;
    for (const json::value& target : question.at("targets").as_array()) {
        const TargetGroupPtr group =
            group_of(text(question.at("name")), labels_of(target), answer.size());
        answer.push_back(entry_of(dialect, *builder, group));
    }
    return answer;
}

std::string difference(LabelDialect dialect, const json::object& question, const json::value& ours,
                       const json::value& theirs, std::string& reason) {
    if (ours.is_null() != theirs.is_null()) {
        return ours.is_null() ? "only k8s_sd refuses the job" : "only the program refuses the job";
    }
    if (ours.is_null()) return "";
    const json::array& all = theirs.as_array();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const json::value& one = ours.at(i);
        if (one == all[i]) continue;
        // Equal targets are merged. The program shows them once, and vmagent drops the others.
        const bool merged = !all[i].is_object() && one.is_object() &&
                            std::find(all.begin(), all.end(), one) != all.end();
        if (merged) continue;
        reason = dialect == LabelDialect::prometheus ? reason_in_prometheus(question, all[i], i)
                                                     : reason_in_vmagent(question, i);
        if (reason.empty()) {
            return "target " + std::to_string(i) + " " +
                   json::serialize(question.at("targets").at(i)) +
                   "\n  k8s_sd: " + json::serialize(one) +
                   "\n  program: " + json::serialize(all[i]);
        }
    }
    return "";
}

}  // namespace k8s_sd::test
