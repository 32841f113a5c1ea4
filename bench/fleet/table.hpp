#pragma once

#include <string>
#include <vector>

namespace bench {

/// Rows of numbers, with text in the first column.
struct Table {
    std::string title;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;

    /// For terminals.
    std::string text() const;
    std::string markdown() const;
};

/// With `digits` decimals; "–" for a missing value, encoded as a negative one.
std::string decimal(double value, int digits = 0);
/// "12 k", "3.4 M": rounded to three digits.
std::string rounded(double value);

}  // namespace bench
