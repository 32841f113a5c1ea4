#pragma once

#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Levenshtein distance: the minimum number of bytes to insert, delete or replace.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
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

/// " (did you mean role?)", or an empty text if no name is close to the word. For hand-written keys
/// and values; case-insensitive.
inline std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
    constexpr std::size_t max_word_size = 64;  // bounds the work for hostile words
    if (word.size() < 3 || word.size() > max_word_size) return {};
    // Two replaced letters of three make a different word.
    const std::size_t max_mistakes = std::min<std::size_t>(2, (word.size() + 1) / 3);
    const std::string wanted = lower_case(word);
    std::string_view nearest;
    std::size_t min_distance = max_mistakes + 1;
    for (const std::string_view name : names) {
        const std::size_t distance = edit_distance(wanted, name);
        if (distance >= min_distance) continue;
        min_distance = distance;
        nearest = name;
    }
    return nearest.empty() ? "" : " (did you mean " + std::string(nearest) + "?)";
}

}  // namespace k8s_sd::inline v0::detail
