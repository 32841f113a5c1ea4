#include "table/target_json.hpp"

#include "table/rule_text.hpp"
#include "table/target_query.hpp"

namespace bridge {

namespace {

using Change = k8s_sd::RelabelStep::Change;

/// The changes that the predicate picks, as an object.
template <class Picks, class Write>
void write_changes(JsonWriter& json, const char* name, const std::vector<Change>& changes,
                   Picks&& picks, Write&& write) {
    json.name(name).begin('{');
    for (const Change& change : changes) {
        if (!picks(change)) continue;
        json.name(change.label);
        write(change);
    }
    json.end('}');
}

void write_changes(JsonWriter& json, const std::vector<Change>& changes) {
    write_changes(
        json, "added", changes, [](const Change& c) { return c.before.empty(); },
        [&](const Change& c) { json.value(c.after); });
    write_changes(
        json, "changed", changes,
        [](const Change& c) { return !c.before.empty() && !c.after.empty(); },
        [&](const Change& c) { json.begin('[').value(c.before).value(c.after).end(']'); });
    write_changes(
        json, "removed", changes,
        [](const Change& c) { return !c.before.empty() && c.after.empty(); },
        [&](const Change& c) { json.value(c.before); });
}

}  // namespace

std::string object_of(const k8s_sd::TargetGroup& group, std::size_t index) {
    const auto meta = [&](std::string_view name) {
        if (const auto own = group[index].get(name)) return std::string(*own);
        return std::string(group.labels().get(name).value_or(std::string_view()));
    };
    if (const std::string pod = meta("__meta_kubernetes_pod_name"); !pod.empty()) {
        return "pod/" + meta("__meta_kubernetes_namespace") + "/" + pod;
    }
    std::string source(group.source());
    if (source.starts_with("svc/")) source.replace(0, 3, "service");
    return source;
}

void write_row(JsonWriter& json, const TargetTable& table, const TargetRow& row) {
    json.begin('{').member("id", id_text(row.id)).member("job", table.config().job_name);
    json.member("state", to_string(row.state)).member("reason", table.reason(row));
    if (row.rule != TargetRow::no_rule) {
        json.member("rule", row.rule).member("rule_text", table.rule_text(row));
    }
    json.member("address", row.address);
    json.member("url", row.target ? row.target->url() : std::string());
    json.member("labels", row.target ? row.target->public_labels() : k8s_sd::LabelMap());
    json.member("object", object_of(*row.group, row.index)).member("node", row.node);
    json.member("namespace", row.ns).member("source", row.group->source()).end('}');
}

void apply(k8s_sd::LabelMap& labels, const k8s_sd::RelabelStep& step) {
    for (const Change& change : step.changes) {
        if (change.after.empty()) {
            labels.erase(change.label);
        } else {
            labels[change.label] = change.after;
        }
    }
}

void write_steps(JsonWriter& json, const k8s_sd::TargetExplanation& explanation,
                 const std::vector<k8s_sd::RelabelRule>& rules) {
    k8s_sd::LabelMap labels = explanation.discovered;
    json.begin('[');
    for (const k8s_sd::RelabelStep& step : explanation.rules) {
        const k8s_sd::RelabelRule& rule = rules[step.rule];
        apply(labels, step);
        json.begin('{').member("rule", to_yaml(rule)).member("action", to_string(rule.action));
        json.member("keep", !step.dropped).member("reason", step.reason);
        json.member("output", step.dropped ? k8s_sd::LabelMap() : labels);
        write_changes(json, step.changes);
        json.end('}');
    }
    json.end(']');
}

}  // namespace bridge
