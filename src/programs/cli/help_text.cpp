#include "cli/command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cli {

namespace {

constexpr std::size_t width = 100;
constexpr std::size_t help_column = 29;

/// Cuts off the first line of a text: as many words as fit, but at least one.
std::string_view take_line(std::string_view& text) {
    constexpr std::size_t max_columns = width - help_column;
    std::size_t end = std::min(text.find('\n'), text.size());
    if (end > max_columns) {
        const std::size_t space = text.rfind(' ', max_columns);
        end = space != std::string_view::npos ? space : std::min(text.find(' '), end);
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

/// "  --role ROLE     which objects", with the help in a column of its own.
std::string row(const std::string& name, std::string_view help) {
    const std::string indent(help_column, ' ');
    std::string text = "  " + name;
    if (text.size() < help_column) {
        text.resize(help_column, ' ');
        text += take_line(help);
    }
    while (!help.empty()) (text += '\n' + indent) += take_line(help);
    return text + '\n';
}

std::string name_of(const Option& option) {
    return option.name + (option.argument.empty() ? "" : " " + option.argument);
}

std::string usage(const CommandLine& command) {
    std::string text = "Usage: " + command.program;
    for (const Section& section : command.sections) {
        for (const Option& option : section.options) {
            if (option.required) text += " " + name_of(option);
        }
    }
    text += " [OPTION]...";
    if (!command.positional.name.empty()) text += " [" + command.positional.name + "]";
    if (command.positional.many) text += "...";
    return text + '\n';
}

}  // namespace

std::string CommandLine::help() const {
    std::string text = usage(*this) + about;
    for (const Section& section : sections) {
        text += '\n';
        if (!section.heading.empty()) text += section.heading + '\n';
        const bool first = &section == &sections.front();
        if (first && !positional.name.empty()) text += row(positional.name, positional.help);
        for (const Option& option : section.options) text += row(name_of(option), option.help);
    }
    text += row("--help, --version", "print this text, or the version");
    if (!notes.empty()) text += '\n' + notes;
    return text;
}

}  // namespace cli
