#pragma once

#include "cli/command_line.hpp"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

/// "a, b, c"
std::string listed(std::span<const std::string_view> names);
/// "a, b and 7 more"
std::string listed(std::span<const std::string> names, std::size_t max_names);
/// "a, b (default) or c"
std::string either(std::span<const std::string_view> names, std::string_view by_default);

/// " (did you mean --role?)", or nothing without a similar name.
std::string suggestion(std::string_view name, std::span<const std::string_view> names);

/// The most similar names, the best first.
std::vector<std::string> nearest(std::string_view name, std::vector<std::string> names,
                                 std::size_t max_names);

/// The index of the value among the names. \throws UsageError
std::size_t index_of(std::string_view value, std::span<const std::string_view> names);

/// The allowed names of a value, and their meanings.
template <class T>
using Choices = std::vector<std::pair<std::string_view, T>>;

template <class T>
std::vector<std::string_view> names_of(const Choices<T>& choices) {
    std::vector<std::string_view> names;
    for (const auto& choice : choices) names.push_back(choice.first);
    return names;
}

/// The meaning of the value. \throws UsageError
template <class T>
T one_of(std::string_view value, const Choices<T>& choices) {
    return choices[index_of(value, names_of(choices))].second;
}

/// \param allowed  for the message: "a number from 1 to 9" \throws UsageError
template <class Number>
Number number(const std::string& value, Number min, Number max, const char* allowed) {
    Number result{};
    const char* end = value.data() + value.size();
    const auto [last, error] = std::from_chars(value.data(), end, result);
    // This form also excludes NaN.
    if (error != std::errc{} || last != end || !(result >= min && result <= max)) {
        throw UsageError("\"" + value + "\" is not allowed; allowed is " + allowed);
    }
    return result;
}

/// A whole number from 0. \throws UsageError
unsigned count(const std::string& value);
/// A number of seconds from 0.001 to a million, such as "2.5". \throws UsageError
std::chrono::nanoseconds seconds(const std::string& value);

/// Setters for options that only set a member.
inline Setter flag(bool& member) {
    return [&member](const std::string&) { member = true; };
}
inline Setter text(std::string& member) {
    return [&member](const std::string& value) { member = value; };
}
template <class T>
Setter choice(T& member, Choices<T> choices) {
    return [&member, choices = std::move(choices)](const std::string& value) {
        member = one_of(value, choices);
    };
}

}  // namespace cli
