#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Makes untrusted text safe for a line of a terminal: without cursor movement, escape sequences or
/// changes of the writing direction, and in valid UTF-8. A text longer than `max_size` bytes ends
/// in "...".
std::string printable(std::string_view text, std::size_t max_size = 80);

/// The first whole lines of a text, at most `max_size` bytes of them, and the number of the others.
std::string first_lines(std::string text, std::size_t max_size);

/// "1 target", "2 targets"
std::string counted(std::size_t number, std::string_view noun);

/// The number of columns of printable text on a terminal.
std::size_t columns(std::string_view text) noexcept;

/// The meaning of a piece of a line; determines its colour.
enum class Tone { plain, added, removed, changed, note, faint, heading, warning };

/// A line for people, in pieces.
class StyledLine {
 public:
    /// \param text  printable
    StyledLine& add(std::string_view text, Tone tone = Tone::plain);

    /// \param width    0: the whole line; otherwise at most this number of columns, the rest is "…"
    /// \param colours  whether pieces are coloured; the line ends without a colour
    std::string text(std::size_t width, bool colours) const;

 private:
    struct Piece {
        std::string text;
        Tone tone;
    };

    std::vector<Piece> pieces_;
};

}  // namespace cli
