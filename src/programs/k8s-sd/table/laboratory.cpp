#include "table/laboratory.hpp"

#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "lists/list_selection.hpp"
#include "table/rule_text.hpp"
#include "table/target_json.hpp"

#include <algorithm>
#include <variant>

namespace k8s_sd_program {

namespace {

constexpr std::size_t max_examples = 5;  // for each effect
constexpr std::size_t max_taken = 5000;
constexpr std::size_t max_rules = 1000;
constexpr std::size_t max_rule_bytes = std::size_t{256} << 10;

/// The size of all texts of a rule, with an overhead for each.
std::size_t bytes_of_rule(const k8s_sd::RelabelRule& rule) {
    constexpr std::size_t of_each = 16;
    std::size_t bytes = 0;
    const auto add = [&](const std::string& text) { bytes += of_each + text.size(); };
    for (const std::string* text :
         {&rule.separator, &rule.regex, &rule.target_label, &rule.replacement}) {
        add(*text);
    }
    for (const std::string& name : rule.source_labels) add(name);
    for (const std::string& selector : rule.if_) add(selector);
    return bytes;
}

bool is_dropped(const k8s_sd::TargetExplanation& explanation) {
    return std::any_of(explanation.rules.begin(), explanation.rules.end(),
                       [](const auto& step) { return step.dropped; });
}

TargetState state_of(const k8s_sd::BuiltTarget& built) {
    if (std::holds_alternative<k8s_sd::ScrapeTargetPtr>(built)) return TargetState::active;
    return std::holds_alternative<k8s_sd::TargetError>(built) ? TargetState::failed
                                                              : TargetState::dropped;
}

/// In the format of relabelling steps.
void write_difference(JsonWriter& json, const k8s_sd::ScrapeTarget& before,
                      const k8s_sd::ScrapeTarget& after) {
    std::vector<k8s_sd::RelabelStep::Change> changes;
    const auto add = [&](std::string_view name, std::string_view from, std::string_view to) {
        if (from == to || changes.size() == shown_labels) return;
        changes.push_back({std::string(name), std::string(cut(from, shown_value_bytes)),
                           std::string(cut(to, shown_value_bytes))});
    };
    for (const auto& [name, value] : before.labels()) add(name, value, after.get(name));
    for (const auto& [name, value] : after.labels()) {
        if (before.get(name).empty()) add(name, {}, value);
    }
    json.name("labels_diff").begin('{');
    write_changes(json, changes);
    json.end('}');
}

}  // namespace

std::vector<k8s_sd::RelabelRule> read_tried_rules(std::string_view yaml,
                                                  const k8s_sd::ScrapeConfig& config) {
    k8s_sd::RelabelOptions options = relabel_options(config);
    options.limits = tried_limits;
    auto rules = k8s_sd::parse_relabel_configs(yaml, options, "rules");
    if (rules.size() > max_rules) {
        throw BadRequest("rules: there can be " + std::to_string(max_rules) + " at most");
    }
    // A short text can become long with YAML aliases.
    std::size_t bytes = 0;
    for (const k8s_sd::RelabelRule& rule : rules) bytes += bytes_of_rule(rule);
    if (bytes > max_rule_bytes) {
        throw BadRequest("rules: are longer than " + std::to_string(max_rule_bytes) +
                         " bytes together, with what anchors stand for");
    }
    return rules;
}

bool Laboratory::take(const TargetTable& table, const GoesOn& has_time) {
    measured_ = true;
    taken_.clear();
    tried_ = 0;
    return reader_.read(table, has_time, [&](const TargetRow& row, std::size_t) {
        taken_.emplace_back(row);
        return taken_.size() < max_taken;
    });
}

bool Laboratory::try_on_taken(const GoesOn& has_time) {
    while (tried_ != taken_.size()) {
        compare(taken_[tried_++]);
        if (!has_time()) break;
    }
    return tried_ != taken_.size();
}

void Laboratory::compare(const TakenTarget& row) {
    const k8s_sd::BuiltTarget built = builder_.build(row.group, row.index);
    const auto* after = std::get_if<k8s_sd::ScrapeTargetPtr>(&built);
    const bool same = after && row.target && (*after)->same_as(*row.target);
    if (row.target) {
        Side& side = before_[row.target->hash()];
        side = {.none = side.none && !after, .same = side.same || same};
    }
    if (after) {
        Side& side = after_[(*after)->hash()];
        side = {.none = side.none && !row.target, .same = side.same || same};
    }
    if (same) return;
    if (row.target) {
        add_example(after ? changed : lost, row.target->hash(), row, built);
    } else if (after) {
        add_example(gained, (*after)->hash(), row, built);
    }
}

/// If several rows make a target, the first one is the example.
void Laboratory::add_example(Effect effect, std::uint64_t hash, const TakenTarget& row,
                             const k8s_sd::BuiltTarget& after) {
    std::vector<Example>& examples = examples_[effect];
    if (examples.size() == max_examples) return;
    if (std::any_of(examples.begin(), examples.end(),
                    [&](const Example& known) { return known.hash == hash; })) {
        return;
    }
    std::string text;
    JsonWriter json(text);
    json.member("before", to_string(row.state)).member("after", to_string(state_of(after)));
    if (const auto* error = std::get_if<k8s_sd::TargetError>(&after)) {
        json.member("failure", cut(error->message));
    }
    if (effect == changed) {
        write_difference(json, *row.target, *std::get<k8s_sd::ScrapeTargetPtr>(after));
    }
    examples.push_back({hash, row, std::move(text)});
}

void Laboratory::read_examples(const TargetTable& table) {
    for (auto& examples : examples_) {
        for (Example& example : examples) {
            const TargetPosition position{std::string(example.target.address), example.target.id};
            const auto row = table.from(position);
            if (row == table.rows().end() || row->id != position.id) continue;
            JsonWriter json(example.row);
            json.begin('{');
            write_row_members(json, table, *row);
            json.raw(example.outcome).end('}');
        }
    }
}

/// A target made by several rows is lost if all of them lose it; it has changed if none keeps it
/// and at least one becomes another target.
bool Laboratory::has(Effect effect, std::uint64_t hash) const {
    const Side& side = (effect == gained ? after_ : before_).at(hash);
    return effect == changed ? !side.none && !side.same : side.none;
}

std::size_t Laboratory::total(Effect effect) const {
    const Sides& sides = effect == gained ? after_ : before_;
    return static_cast<std::size_t>(std::count_if(
        sides.begin(), sides.end(), [&](const auto& side) { return has(effect, side.first); }));
}

void Laboratory::write_effect(JsonWriter& json) const {
    json.name("effect").begin('{').member("active_before", before_.size());
    json.member("active_after", after_.size());
    for (const Effect effect : {gained, lost, changed}) {
        json.member(effect_names[effect], total(effect));
    }
    json.name("examples").begin('{');
    for (const Effect effect : {gained, lost, changed}) {
        json.name(effect_names[effect]).begin('[');
        for (const Example& example : examples_[effect]) {
            if (has(effect, example.hash) && !example.row.empty()) json.raw(example.row);
        }
        json.end(']');
    }
    json.end('}').member("complete", !given_up_).end('}');
}

void Laboratory::write_outcome(JsonWriter& json) const {
    const auto& [discovered, rules, steps, labels, url] = *explanation_;
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

}  // namespace k8s_sd_program
