#include "table/target_json.hpp"

#include "table/rule_text.hpp"
#include "table/target_query.hpp"

namespace k8s_sd_program {

namespace {

using Change = k8s_sd::RelabelStep::Change;

/// Writes the changes selected by the predicate, as an object.
template <class Picks, class Write>
void write_some(JsonWriter& json, const char* name, const std::vector<Change>& changes,
                Picks&& picks, Write&& write) {
    json.name(name).begin('{');
    for (const Change& change : changes) {
        if (!picks(change)) continue;
        json.name(change.label);
        write(change);
    }
    json.end('}');
}

/// Writes members of a row, and records whether any text was truncated or left out.
class RowWriter {
 public:
    explicit RowWriter(JsonWriter& json) : json_(json) {}

    void text(std::string_view name, std::string_view text) {
        json_.member(name, shown(text, shown_bytes));
    }
    /// Writes the members available for active targets only.
    void target(const TargetRow& row) {
        text("url", row.target ? row.target->url() : std::string());
        const k8s_sd::ScrapeLabels labels =
            row.target ? row.target->labels() : k8s_sd::ScrapeLabels();
        if (row.target) {
            const std::string_view address = labels.get("__address__");
            if (address != row.address) text("relabelled_address", address);
            text("scheme", labels.get("__scheme__"));
            text("path", labels.get("__metrics_path__"));
        }
        json_.name("labels").begin('{');
        std::size_t total = 0;
        for (const bool hidden : {false, true}) {
            for (const auto& [name, value] : labels) {
                if (name.starts_with("__") != hidden) continue;
                if (++total > shown_labels) continue;
                json_.member(name, shown(value, shown_value_bytes));
            }
        }
        json_.end('}').member("labels_total", total);
        cut_ = cut_ || total > shown_labels;
    }
    bool has_cut() const noexcept { return cut_; }

 private:
    std::string_view shown(std::string_view text, std::size_t bytes) {
        const std::string_view begin = cut(text, bytes);
        cut_ = cut_ || begin.size() < text.size();
        return begin;
    }

    JsonWriter& json_;
    bool cut_ = false;
};

/// The name of its cluster, if it has one in the usual labels.
std::string_view cluster_of(const k8s_sd::TargetGroup& group) {
    for (const std::string_view label : {"cluster", "__meta_cluster"}) {
        const auto name = group.labels().get(label);
        if (name && !name->empty()) return *name;
    }
    return {};
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

std::string_view cut(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    const auto continues = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    };
    std::size_t end = bytes;
    // Limit the search: text other than UTF-8 may have no start of a character.
    for (int back = 0; back < 3 && end != 0 && continues(end); ++back) --end;
    return text.substr(0, continues(end) ? bytes : end);
}

void write_row(JsonWriter& json, const TargetTable& table, const TargetRow& row,
               const TargetOwners& owners) {
    json.begin('{');
    write_row_members(json, table, row);
    owners.write(json, row, table.config().job_name);
    json.end('}');
}

void write_row_members(JsonWriter& json, const TargetTable& table, const TargetRow& row) {
    RowWriter writer(json);
    json.member("id", id_text(row.id)).member("job", table.config().job_name);
    json.member("state", to_string(row.state));
    writer.text("reason", table.reason(row));
    if (row.rule != TargetRow::no_rule) {
        json.member("rule", row.rule);
        writer.text("rule_text", table.rule_text(row));
    }
    writer.text("address", row.address);
    writer.target(row);
    if (const auto cluster = cluster_of(*row.group); !cluster.empty()) {
        writer.text("cluster", cluster);
    }
    writer.text("object", object_of(*row.group, row.index));
    writer.text("node", row.node);
    writer.text("namespace", row.ns);
    writer.text("source", row.group->source());
    json.member("cut", writer.has_cut());
}

std::size_t bytes_of(const k8s_sd::LabelMap& labels) {
    constexpr std::size_t quotes = 6;
    std::size_t bytes = 0;
    for (const auto& [name, value] : labels) bytes += name.size() + value.size() + quotes;
    return bytes;
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

void write_changes(JsonWriter& json, const std::vector<Change>& changes) {
    write_some(
        json, "added", changes, [](const Change& c) { return c.before.empty(); },
        [&](const Change& c) { json.value(c.after); });
    write_some(
        json, "changed", changes,
        [](const Change& c) { return !c.before.empty() && !c.after.empty(); },
        [&](const Change& c) { json.begin('[').value(c.before).value(c.after).end(']'); });
    write_some(
        json, "removed", changes,
        [](const Change& c) { return !c.before.empty() && c.after.empty(); },
        [&](const Change& c) { json.value(c.before); });
}

void write_steps(JsonWriter& json, const k8s_sd::TargetExplanation& explanation,
                 const k8s_sd::RelabelRules& rules) {
    k8s_sd::LabelMap labels = explanation.discovered;
    const std::size_t end = json.size() + shown_steps_bytes;
    std::size_t written = 0;
    json.name("steps").begin('[');
    for (const k8s_sd::RelabelStep& step : explanation.rules) {
        const k8s_sd::RelabelRule& rule = rules[step.rule];
        apply(labels, step);
        if (json.size() + bytes_of(labels) > end) break;
        ++written;
        json.begin('{').member("rule", to_yaml(rule)).member("action", to_string(rule.action));
        json.member("keep", !step.dropped).member("reason", step.reason);
        if (step.refused) json.member("refused", true);
        json.member("output", step.dropped ? k8s_sd::LabelMap() : labels);
        write_changes(json, step.changes);
        json.end('}');
    }
    json.end(']');
    const std::size_t left_out = explanation.rules.size() - written;
    if (left_out != 0) json.member("steps_left_out", left_out);
}

}  // namespace k8s_sd_program
