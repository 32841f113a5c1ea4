#include "table/laboratory.hpp"

#include "table/rule_text.hpp"
#include "table/target_json.hpp"

#include <algorithm>
#include <variant>

namespace bridge {

namespace {

constexpr std::size_t most_examples = 5;  // of each effect

bool is_dropped(const k8s_sd::TargetExplanation& explanation) {
    return std::any_of(explanation.rules.begin(), explanation.rules.end(),
                       [](const auto& step) { return step.dropped; });
}

}  // namespace

bool Laboratory::try_on_all(const TargetTable& table, std::size_t rows) {
    measured_ = true;
    return reader_.read(table, rows, [&](const TargetRow& row, std::size_t) {
        compare(table, row);
        return true;
    });
}

void Laboratory::compare(const TargetTable& table, const TargetRow& row) {
    if (row.state == TargetState::active) ++active_before_;
    const auto built = builder_.build(k8s_sd::TargetGroupPtr(row.group), row.index);
    const auto* after = std::get_if<k8s_sd::ScrapeTargetPtr>(&built);
    if (after) active_after_.insert((*after)->hash());
    if (after && !row.target) return add(gained, table, row);
    if (!after && row.target) return add(lost, table, row);
    if (after && !(*after)->same_as(*row.target)) add(changed, table, row);
}

void Laboratory::add(Effect effect, const TargetTable& table, const TargetRow& row) {
    Rows& rows = effects_[effect];
    if (++rows.total > most_examples) return;
    if (!rows.examples.empty()) rows.examples += ',';
    JsonWriter json(rows.examples);
    write_row(json, table, row);
}

void Laboratory::write_effect(JsonWriter& json) const {
    json.name("effect").begin('{').member("active_before", active_before_);
    json.member("active_after", active_after_.size());
    for (std::size_t i = 0; i < effects_.size(); ++i) {
        json.member(effect_names[i], effects_[i].total);
    }
    json.name("examples").begin('{');
    for (std::size_t i = 0; i < effects_.size(); ++i) {
        json.name(effect_names[i]).begin('[').raw(effects_[i].examples).end(']');
    }
    json.end('}').member("complete", !given_up_).end('}');
}

void Laboratory::write_outcome(JsonWriter& json) const {
    const auto& [discovered, rules, steps, labels, url] = *explanation_;
    json.name("steps");
    write_steps(json, *explanation_, builder_.config().relabel_configs);
    json.name("after").begin('[');
    for (const std::string& step : steps) json.value(step);
    json.end(']').member("discovered", discovered);
    const bool dropped = is_dropped(*explanation_);
    json.member("state", labels ? "active" : dropped ? "dropped" : "failed");
    json.member("reason", labels          ? std::string()
                          : dropped       ? rules.back().reason
                          : steps.empty() ? std::string()
                                          : steps.back());
    json.name("labels");
    labels ? json.value(*labels) : json.null();
    json.member("url", url);
}

std::string Laboratory::text() const {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("rules", to_yaml(builder_.config().relabel_configs));
    if (explanation_) write_outcome(json);
    if (measured_) write_effect(json);
    json.end('}');
    return text;
}

}  // namespace bridge
