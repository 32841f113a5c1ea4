#include "table.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>

namespace bench {

namespace {

/// Of characters, not bytes.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string line_of(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) line += " " + cell + " |";
    return line + "\n";
}

}  // namespace

std::string Table::text() const {
    std::vector<std::size_t> widths(header.size());
    const auto widen = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], width_of(cells[i]));
    };
    widen(header);
    for (const auto& row : rows) widen(row);
    std::string all = title + "\n";
    const auto append = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string space(widths[i] - width_of(cells[i]), ' ');
            all += i == 0 ? cells[i] + space : "  " + space + cells[i];
        }
        all += "\n";
    };
    append(header);
    for (const auto& row : rows) append(row);
    return all + "\n";
}

std::string Table::markdown() const {
    std::vector<std::string> rule;
    for (std::size_t i = 0; i < header.size(); ++i) {
        const bool has_numbers = i != 0 && std::isdigit(static_cast<unsigned char>(rows[0][i][0]));
        rule.emplace_back(has_numbers ? "---:" : "---");
    }
    std::string all = "### " + title + "\n\n" + line_of(header) + line_of(rule);
    for (const auto& row : rows) all += line_of(row);
    return all + "\n";
}

std::string decimal(double value, int digits) {
    if (value < 0) return "–";
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

std::string rounded(double value) {
    if (value < 0) return "–";
    const char* unit = "";
    for (const char* next : {" k", " M", " G"}) {
        if (value < 1000) break;
        value /= 1000;
        unit = next;
    }
    return decimal(value, *unit && value < 10 ? 1 : 0) + unit;
}

}  // namespace bench
