#include "cli/option_values.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace support {

namespace {

/// Minimum number of letters to insert, delete or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

std::string_view without_dashes(std::string_view name) {
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    return name;
}

}  // namespace

std::string listed(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) (text += text.empty() ? "" : ", ") += name;
    return text;
}

std::string listed(std::span<const std::string> names, std::size_t most) {
    std::string text;
    for (const std::string& name : names.first(std::min(names.size(), most)))
        (text += text.empty() ? "" : ", ") += name;
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return text;
}

std::string either(std::span<const std::string_view> names, std::string_view by_default) {
    std::string text;
    for (const std::string_view& name : names) {
        if (!text.empty()) text += &name == &names.back() ? " or " : ", ";
        text += name;
        if (name == by_default) text += " (default)";
    }
    return text;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> names) {
    constexpr std::size_t longest = 64;  // bounds the work
    const std::string_view word = without_dashes(name);
    if (word.empty() || word.size() > longest) return {};
    std::string_view best;
    std::size_t least = std::min<std::size_t>(3, word.size() / 2 + 1);
    for (const std::string_view candidate : names) {
        const std::string_view other = without_dashes(candidate);
        // A prefix of a name counts as the name.
        const std::size_t distance = other.starts_with(word) ? 0 : edit_distance(word, other);
        const bool shorter = !best.empty() && candidate.size() < best.size();
        if (distance > least || (distance == least && !shorter)) continue;
        least = distance;
        best = candidate;
    }
    return best.empty() ? "" : " (did you mean " + std::string(best) + "?)";
}

std::vector<std::string> nearest(std::string_view name, std::vector<std::string> names,
                                 std::size_t most) {
    constexpr std::size_t longest = 300;  // bounds the work
    using Ranked = std::pair<std::size_t, std::string>;
    std::vector<Ranked> ranked;
    for (std::string& candidate : names) {
        const std::size_t distance =
            edit_distance(name.substr(0, longest), std::string_view(candidate).substr(0, longest));
        ranked.emplace_back(distance, std::move(candidate));
    }
    most = std::min(most, ranked.size());
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most),
                      ranked.end());
    std::vector<std::string> result;
    for (std::size_t i = 0; i < most; ++i) result.push_back(std::move(ranked[i].second));
    return result;
}

std::size_t index_of(std::string_view value, std::span<const std::string_view> names) {
    const auto it = std::find(names.begin(), names.end(), value);
    if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
    throw UsageError("\"" + std::string(value) + "\" is not allowed; allowed are " + listed(names) +
                     suggestion(value, names));
}

unsigned count(const std::string& value) {
    return number(value, 0u, std::numeric_limits<unsigned>::max(), "a whole number from 0");
}

std::chrono::nanoseconds seconds(const std::string& value) {
    const double result =
        number(value, 0.001, 1e6, "a number of seconds from 0.001 to 1000000, such as 2.5");
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(result));
}

}  // namespace support
