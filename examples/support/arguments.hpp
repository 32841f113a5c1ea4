#pragma once

#include <charconv>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

/// The command line of the small examples: [--diffs N] [URL].
struct Arguments {
    std::string url;     ///< empty: a simulated cluster
    unsigned diffs = 0;  ///< end after so many; 0: run until a signal comes
};

/// Says on standard error how it goes, and returns nullopt, if that is something else.
inline std::optional<Arguments> parse_arguments(int argc, char** argv) {
    Arguments result;
    bool good = true;
    for (int i = 1; i < argc && good; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--diffs" && i + 1 < argc) {
            const char* text = argv[++i];
            const char* end = text + std::strlen(text);
            const auto [last, error] = std::from_chars(text, end, result.diffs);
            good = error == std::errc{} && last == end;
        } else {
            good = result.url.empty() && !argument.starts_with('-');
            result.url = argument;
        }
    }
    if (good) return result;
    std::cerr << "usage: " << argv[0] << " [--diffs N] [URL]\n";
    return std::nullopt;
}
