#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/relabel/relabel_budget.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <charconv>
#include <optional>

namespace k8s_sd::inline v0::detail {

namespace {

/// The leading letters, digits and `_`, including non-ASCII ones.
std::string_view leading_name(std::string_view text) {
    static const Immortal<re2::RE2> name(R"([\pL\p{Nd}_]*)");
    re2::StringPiece found;
    name->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::ANCHOR_START, &found, 1);
    return text.substr(0, found.size());
}

/// nullopt: a name, which includes indexes with leading zeros and absurdly large ones.
std::optional<std::size_t> group_index(std::string_view name) {
    constexpr std::size_t max_digits = 9;
    const bool number = std::all_of(name.begin(), name.end(), is_digit);
    const bool leading_zero = name.size() > 1 && name[0] == '0';
    if (!number || leading_zero || name.size() > max_digits) return std::nullopt;
    std::size_t index = 0;
    std::from_chars(name.data(), name.data() + name.size(), index);
    return index;
}

}  // namespace

Replacement::Replacement(std::string_view text, const Pattern& pattern, References references) {
    while (references == References::labels) {
        const std::size_t begin = text.find("{{");
        const std::size_t end = begin == std::string_view::npos ? begin : text.find("}}", begin);
        if (end == std::string_view::npos) break;
        add_groups(text.substr(0, begin), pattern);
        const std::string_view name = text.substr(begin + 2, end - begin - 2);
        parts_.push_back({Part::Kind::label, std::string(name)});
        text.remove_prefix(end + 2);
    }
    add_groups(text, pattern);
}

void Replacement::add_literal(std::string_view text) {
    if (text.empty()) return;
    if (parts_.empty() || parts_.back().kind != Part::Kind::literal) {
        parts_.push_back({Part::Kind::literal, ""});
    }
    parts_.back().text += text;
}

void Replacement::add_groups(std::string_view text, const Pattern& pattern) {
    for (std::size_t dollar = text.find('$'); dollar != std::string_view::npos;
         dollar = text.find('$')) {
        add_literal(text.substr(0, dollar));
        text.remove_prefix(dollar + 1);
        if (text.starts_with('$')) {
            add_literal("$");
            text.remove_prefix(1);
            continue;
        }
        const std::size_t braces = text.starts_with('{') ? 1 : 0;
        const std::string_view name = leading_name(text.substr(braces));
        const bool closed = braces == 0 || text.substr(braces + name.size()).starts_with('}');
        if (name.empty() || !closed) {
            add_literal("$");
            continue;
        }
        add_group(name, pattern);
        text.remove_prefix(name.size() + 2 * braces);
    }
    add_literal(text);
}

/// A reference to a missing group expands to nothing.
void Replacement::add_group(std::string_view name, const Pattern& pattern) {
    const std::optional<std::size_t> index = group_index(name);
    std::vector<std::size_t> groups = index ? std::vector{*index} : pattern.groups(name);
    if (groups.empty() || groups.back() > pattern.group_count()) return;
    group_count_ = std::max(group_count_, groups.back() + 1);
    parts_.push_back({Part::Kind::group, "", std::move(groups)});
}

std::string_view Replacement::value(const Part& part, std::span<const std::string_view> groups,
                                    const MutableLabels& labels) {
    switch (part.kind) {
        case Part::Kind::group:
            for (const std::size_t i : part.groups) {
                if (groups[i].data()) return groups[i];
            }
            return {};
        case Part::Kind::label: return labels.get(part.text);
        case Part::Kind::literal: break;
    }
    return part.text;
}

std::string_view Replacement::expand(std::span<const std::string_view> groups,
                                     MutableLabels& labels, RelabelBudget& budget) const {
    if (parts_.empty()) return {};
    if (parts_.size() == 1) return value(parts_[0], groups, labels);
    std::string& text = labels.new_text();
    append_to(text, groups, labels, budget);
    budget.make(text.size());
    return text;
}

void Replacement::append_to(std::string& text, std::span<const std::string_view> groups,
                            const MutableLabels& labels, const RelabelBudget& budget) const {
    for (const Part& part : parts_) {
        const std::string_view more = value(part, groups, labels);
        budget.grow(text.size() + more.size());
        text += more;
    }
}

}  // namespace k8s_sd::inline v0::detail
