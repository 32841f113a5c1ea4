#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace support {

/// Foreign text for a line of a terminal: nothing in it moves the cursor, begins an escape sequence
/// or turns the direction of writing, and it is UTF-8. What is longer than `longest` bytes ends in
/// "...".
std::string printable(std::string_view text, std::size_t longest = 80);

/// How many columns of a terminal printable text takes.
std::size_t columns(std::string_view text) noexcept;

/// What a piece of a line says; decides about its colour.
enum class Tone { plain, added, removed, changed, note, faint, heading, warning };

/// A line for people, in pieces.
class StyledLine {
 public:
    /// \param text  printable
    StyledLine& add(std::string_view text, Tone tone = Tone::plain);

    /// \param width    0: the whole line; else at most so many columns, where the rest is "…"
    /// \param colours  whether pieces are coloured; the line ends without a colour
    std::string text(std::size_t width, bool colours) const;

 private:
    struct Piece {
        std::string text;
        Tone tone;
    };

    std::vector<Piece> pieces_;
};

}  // namespace support
