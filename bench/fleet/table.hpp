#pragma once

#include <string>
#include <vector>

namespace bench {

/// Numbers below each other, the first column in words.
struct Table {
    std::string title;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;

    /// For terminals.
    std::string text() const;
    std::string markdown() const;
};

/// With so many digits behind the point; "–" for what there is not, which is below zero.
std::string decimal(double value, int digits = 0);
/// "12 k", "3.4 M": three digits are enough.
std::string rounded(double value);

}  // namespace bench
