#include "table/target_table.hpp"

#include "table/rule_text.hpp"

#define XXH_INLINE_ALL  // the header is the whole library
#include <xxhash.h>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <variant>

namespace k8s_sd_program {

namespace {

constexpr std::size_t usual_labels = 4096;  // bytes

std::string_view value_of(std::span<const LabelView> labels, std::string_view name) {
    const auto it = std::find_if(labels.begin(), labels.end(),
                                 [&](const LabelView& label) { return label.first == name; });
    return it != labels.end() ? it->second : std::string_view();
}

}  // namespace

std::uint64_t target_id(std::string_view job, std::span<const LabelView> labels) {
    std::string parts(job);
    parts.reserve(usual_labels);
    // {"ab", "c"} is not {"a", "bc"}.
    for (const auto& [name, value] : labels) {
        ((parts += '\0') += name) += '\0';
        parts += value;
    }
    return XXH64(parts.data(), parts.size(), 0);
}

std::string id_text(std::uint64_t id) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[id >> shift & 0xFU];
    return text;
}

std::uint64_t read_id(std::string_view text) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
    return error == std::errc{} && end == text.data() + text.size() && text.size() == 16 ? id : 0;
}

bool TargetTable::Sameness::operator()(const TargetRow& a, const TargetRow& b) const noexcept {
    const auto hash = a.target->hash(), other = b.target->hash();
    return hash != other ? hash < other : OrderOfRows()(a, b);
}

TargetTable::TargetTable(k8s_sd::TargetBuilder& builder, Groups groups)
    : builder_(builder), dropping_(builder.config()) {
    const auto& rules = config().relabel_configs;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        rule_texts_.push_back(in_words(rules[i]));
        rule_reasons_.push_back("rule " + std::to_string(i) + ": " + rule_texts_.back());
    }
    counts_.by_rule.resize(rules.size());
    for (auto& [provider, group] : groups) {
        const Key key(provider, group->source());
        unread_.emplace(key, std::move(group));
    }
}

bool TargetTable::advance(std::size_t targets) {
    while (!unread_.empty() && targets != 0) {
        const auto unread = unread_.begin();
        const k8s_sd::TargetGroupPtr group = unread->second;
        targets -= read(unread->first.first, group, targets);
        if (groups_.at(unread->first).built == group->size()) unread_.erase(unread);
    }
    return complete();
}

void TargetTable::put(k8s_sd::ProviderId provider, const k8s_sd::TargetGroupPtr& group) {
    if (group->size() > max_at_once) return put_later(provider, group);
    remove(provider, group->source());
    read(provider, group, max_at_once);
}

void TargetTable::put_later(k8s_sd::ProviderId provider, const k8s_sd::TargetGroupPtr& group) {
    remove(provider, group->source());
    unread_.emplace(Key(provider, group->source()), group);
}

void TargetTable::remove(k8s_sd::ProviderId provider, std::string_view source) {
    unread_.erase(Key(provider, source));
    const auto known = groups_.find(Key(provider, source));
    if (known == groups_.end()) return;
    for (TargetRow& row : std::span(known->second.rows).first(known->second.built)) {
        order_.erase(order_.iterator_to(row));
        if (row.target) remove_same(row);
        count(row, false);
    }
    groups_.erase(known);
}

/// Continues with a group. The key and the views of the rows refer to the group.
/// \returns the number of targets read
std::size_t TargetTable::read(k8s_sd::ProviderId provider, const k8s_sd::TargetGroupPtr& group,
                              std::size_t targets) {
    Group& made = groups_[Key(provider, group->source())];
    made.group = group;
    // After a lack of memory the rows are created on the next call.
    if (made.rows.size() != group->size()) made.rows = std::vector<TargetRow>(group->size());
    const std::size_t end = std::min(made.rows.size(), made.built + targets);
    const std::size_t count = end - made.built;
    for (; made.built < end; ++made.built) {
        made.rows[made.built].index = static_cast<std::uint32_t>(made.built);
        build(made.rows[made.built], group);
    }
    return count;
}

void TargetTable::build(TargetRow& row, const k8s_sd::TargetGroupPtr& group) {
    row.group = group.get();
    const std::vector<LabelView> labels = discovered_labels(*group, row.index);
    row.id = target_id(config().job_name, labels);
    row.address = value_of(labels, "__address__");
    row.ns = value_of(labels, "__meta_kubernetes_namespace");
    row.node = node_of(labels);
    k8s_sd::BuiltTarget built = builder_.build(group, row.index);
    if (auto* target = std::get_if<k8s_sd::ScrapeTargetPtr>(&built)) {
        row.target = std::move(*target);
        row.state = TargetState::active;
    } else if (auto* error = std::get_if<k8s_sd::TargetError>(&built)) {
        row.failure = std::make_unique<std::string>(std::move(error->message));
        row.state = TargetState::failed;
    } else if (const auto rule = dropping_.find(builder_.discovered(*group, row.index))) {
        row.rule = static_cast<std::uint32_t>(*rule);
    }
    count(row, true);
    order_.insert(row);
    if (row.target) add_same(row);
}

/// Of equal targets the first one in the order is active, in whatever order they were added.
void TargetTable::add_same(TargetRow& row) {
    const auto place = same_.insert(row);
    const auto next = std::next(place);
    if (place != same_.begin() && std::prev(place)->target->same_as(*row.target)) {
        set_state(row, TargetState::duplicate);
    } else if (next != same_.end() && next->target->same_as(*row.target)) {
        set_state(*next, TargetState::duplicate);
    }
}

void TargetTable::remove_same(TargetRow& row) {
    const auto next = same_.erase(same_.iterator_to(row));
    const bool was_first = row.state == TargetState::active;
    if (was_first && next != same_.end() && next->target->same_as(*row.target)) {
        set_state(*next, TargetState::active);
    }
}

void TargetTable::count(const TargetRow& row, bool more) {
    const auto change = [more](std::size_t& number) { more ? ++number : --number; };
    change(counts_.by_state[static_cast<std::size_t>(row.state)]);
    if (row.rule != TargetRow::no_rule) change(counts_.by_rule[row.rule]);
}

void TargetTable::set_state(TargetRow& row, TargetState state) {
    count(row, false);
    row.state = state;
    count(row, true);
}

TargetTable::Order::const_iterator TargetTable::from(const TargetPosition& position) const {
    return order_.lower_bound(position, OrderOfRows());
}

const TargetRow* TargetTable::find(std::uint64_t id) const {
    const auto row = std::find_if(order_.begin(), order_.end(),
                                  [id](const TargetRow& known) { return known.id == id; });
    return row != order_.end() ? &*row : nullptr;
}

std::string_view TargetTable::reason(const TargetRow& row) const {
    if (row.failure) return *row.failure;
    if (row.rule != TargetRow::no_rule) return rule_reasons_[row.rule];
    switch (row.state) {
        case TargetState::duplicate: return "another target has the same labels and URL";
        case TargetState::dropped: return "no label is left of it";
        default: return {};
    }
}

std::string_view TargetTable::rule_text(const TargetRow& row) const {
    return row.rule != TargetRow::no_rule ? std::string_view(rule_texts_[row.rule])
                                          : std::string_view();
}

}  // namespace k8s_sd_program
