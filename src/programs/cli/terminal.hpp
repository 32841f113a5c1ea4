#pragma once

#include "cli/option_values.hpp"
#include "cli/terminal_text.hpp"

#include <cstddef>
#include <string>

namespace cli {

/// When to use colours; `automatic`: on a terminal with colours, unless $NO_COLOR is set.
/// Source: no-color.org.
enum class Colours { automatic, always, never };

/// "auto", "always", "never".
const Choices<Colours>& colour_choices();

/// An output of the program, possibly a terminal.
class Terminal {
 public:
    /// \param descriptor  STDOUT_FILENO or STDERR_FILENO
    Terminal(int descriptor, Colours);

    bool is_terminal() const noexcept { return terminal_; }
    /// Whether a written line can be erased: $TERM names a terminal with a cursor.
    bool has_cursor() const noexcept { return cursor_; }
    bool has_colours() const noexcept { return colours_; }
    /// Whether the output is for people: a terminal, or colours were requested.
    bool is_for_people() const noexcept { return terminal_ || colours_; }
    /// Present number of columns of the window, which may change; 0: no terminal.
    std::size_t width() const noexcept;

    /// The line in the form for this output.
    std::string fitted(const StyledLine& line) const { return line.text(width(), colours_); }
    /// The same without truncation.
    std::string whole(const StyledLine& line) const { return line.text(0, colours_); }

 private:
    int descriptor_;
    bool terminal_;
    bool cursor_;
    bool colours_;
};

}  // namespace cli
