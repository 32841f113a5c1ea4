#pragma once

#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>

namespace k8s_sd::test {

/// A number from the environment. Fails the test if it is none.
inline std::uint64_t number_from(const std::string& variable, std::uint64_t otherwise) {
    const char* const value = std::getenv(variable.c_str());
    if (value == nullptr) return otherwise;
    const std::string text = value;
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    INFO(variable << "='" << text << "' is no number");
    REQUIRE(parsed.ec == std::errc());
    REQUIRE(parsed.ptr == text.data() + text.size());
    return number;
}

/// Calls `play(seed)` for each seed of a property test.
///
/// K8S_SD_NAME_RUNS is the number of runs, to lengthen a test. K8S_SD_NAME_SEED is the first seed,
/// 1 otherwise. A failed assertion reports both for its run.
/// \param name  what NAME stands for
/// \param runs  the number of runs without K8S_SD_NAME_RUNS, see rounds()
template <class Play>
void for_each_seed(const std::string& name, std::uint64_t runs, Play&& play) {
    const std::string variable = "K8S_SD_" + name;
    const std::uint64_t first = number_from(variable + "_SEED", 1);
    const std::uint64_t end = first + number_from(variable + "_RUNS", rounds(runs));
    REQUIRE(first < end);
    for (std::uint64_t seed = first; seed < end; ++seed) {
        INFO(variable << "_SEED=" << seed << ' ' << variable << "_RUNS=1");
        play(seed);
    }
}

}  // namespace k8s_sd::test
