#include "output.hpp"

#include "cli/json_text.hpp"

#include <string>

namespace relabel {

namespace {

using cli::write_json;

/// "+ name: value", "- name: value", "~ name: before -> after"
void write_change(LineWriter& out, const k8s_sd::RelabelStep::Change& change) {
    const bool added = change.before.empty();
    const bool removed = change.after.empty();
    out << "      " << (added ? "+ " : removed ? "- " : "~ ") << change.label << ": ";
    write_json(out, added ? change.after : change.before);
    if (!added && !removed) {
        out << " -> ";
        write_json(out, change.after);
    }
    out.end_line();
}

}  // namespace

void write_result(LineWriter& out, const std::optional<k8s_sd::LabelMap>& labels) {
    if (labels) {
        write_json(out, *labels);
    } else {
        out << "null";
    }
}

void write_steps(LineWriter& out, std::size_t number, const k8s_sd::RelabelRules& rules,
                 const std::vector<k8s_sd::RelabelStep>& steps) {
    out << "label set " << std::to_string(number);
    out.end_line();
    for (const k8s_sd::RelabelStep& step : steps) {
        out << "  rule " << std::to_string(step.rule) << ", " << to_string(rules[step.rule].action)
            << ": " << step.reason;
        out.end_line();
        for (const auto& change : step.changes) write_change(out, change);
    }
}

}  // namespace relabel
