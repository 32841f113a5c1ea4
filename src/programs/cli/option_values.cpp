#include "cli/option_values.hpp"

#include "k8s_sd/detail/text/did_you_mean.hpp"

#include <algorithm>
#include <limits>

namespace cli {

using k8s_sd::detail::edit_distance;

namespace {

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

std::string listed(std::span<const std::string> names, std::size_t max_names) {
    std::string text;
    for (const std::string& name : names.first(std::min(names.size(), max_names)))
        (text += text.empty() ? "" : ", ") += name;
    if (names.size() > max_names)
        text += " and " + std::to_string(names.size() - max_names) + " more";
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
    constexpr std::size_t max_size = 64;  // bounds the work
    const std::string_view word = without_dashes(name);
    if (word.empty() || word.size() > max_size) return {};
    std::string_view best;
    std::size_t min_distance = std::min<std::size_t>(3, word.size() / 2 + 1);
    for (const std::string_view candidate : names) {
        const std::string_view other = without_dashes(candidate);
        // A prefix of a name counts as the name.
        const std::size_t distance = other.starts_with(word) ? 0 : edit_distance(word, other);
        const bool shorter = !best.empty() && candidate.size() < best.size();
        if (distance > min_distance || (distance == min_distance && !shorter)) continue;
        min_distance = distance;
        best = candidate;
    }
    return best.empty() ? "" : " (did you mean " + std::string(best) + "?)";
}

std::vector<std::string> nearest(std::string_view name, std::vector<std::string> names,
                                 std::size_t max_names) {
    constexpr std::size_t max_size = 300;  // bounds the work
    using Ranked = std::pair<std::size_t, std::string>;
    std::vector<Ranked> ranked;
    for (std::string& candidate : names) {
        const std::size_t distance = edit_distance(name.substr(0, max_size),
                                                   std::string_view(candidate).substr(0, max_size));
        ranked.emplace_back(distance, std::move(candidate));
    }
    max_names = std::min(max_names, ranked.size());
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(max_names),
                      ranked.end());
    std::vector<std::string> result;
    for (std::size_t i = 0; i < max_names; ++i) result.push_back(std::move(ranked[i].second));
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

}  // namespace cli
