#pragma once

#include "support/option_values.hpp"
#include "support/terminal_text.hpp"

#include <cstddef>
#include <string>

namespace support {

/// Whether there are colours; `automatic`: on a terminal that has them, unless $NO_COLOR is set.
/// Source: no-color.org.
enum class Colours { automatic, always, never };

/// "auto", "always", "never".
const Choices<Colours>& colour_choices();

/// One of the program's outputs, which may be a terminal.
class Terminal {
 public:
    /// \param descriptor  STDOUT_FILENO or STDERR_FILENO
    Terminal(int descriptor, Colours);

    bool is_terminal() const noexcept { return terminal_; }
    /// Whether a line that was shown can be taken back: $TERM names a terminal that has a cursor.
    bool has_cursor() const noexcept { return cursor_; }
    bool has_colours() const noexcept { return colours_; }
    /// Whether people look at it: it is a terminal, or they asked for colours.
    bool is_for_people() const noexcept { return terminal_ || colours_; }
    /// Columns of its window now, which may have another size than before; 0: no terminal.
    std::size_t width() const noexcept;

    /// The line as it is written here.
    std::string fitted(const StyledLine& line) const { return line.text(width(), colours_); }
    /// The same without cutting.
    std::string whole(const StyledLine& line) const { return line.text(0, colours_); }

 private:
    int descriptor_;
    bool terminal_;
    bool cursor_;
    bool colours_;
};

}  // namespace support
