#include "cli/terminal_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <regex>
#include <string>

using support::columns;
using support::printable;
using support::StyledLine;
using support::Tone;

namespace {

/// The visible text of a line, without colours.
std::string seen(const std::string& line) {
    static const std::regex colour("\x1b\\[[0-9;]*m");
    return std::regex_replace(line, colour, "");
}

}  // namespace

TEST_CASE("printable: nothing moves the cursor or begins an escape sequence") {
    CHECK(printable("\x1b[31mred\x1b[0m") == " [31mred [0m");
    CHECK(printable("a\r\nb\tc\x7f") == "a  b c ");
    CHECK(printable("\xc2\x9b"
                    "31m") == " 31m");  // CSI in one control character
    CHECK(printable("\x9b"
                    "31m") == "?31m");  // the same as a byte
    CHECK(printable("\xe2\x80\xae"
                    "gnp.exe") == " gnp.exe");  // changes the text direction
    CHECK(printable("\xe2\x80\xa8") == " ");
    CHECK(printable("gr\xc3\xbc\xc3\x9f"
                    "e") == "gr\xc3\xbc\xc3\x9f"
                            "e");
}

TEST_CASE("printable: what is no UTF-8 is shown as that") {
    CHECK(printable("\xff\xfe") == "??");
    CHECK(printable("\xc3") == "?");
    CHECK(printable("\xc3(") == "?(");
    CHECK(printable("\xed\xa0\x80") == "???");       // half of a surrogate pair
    CHECK(printable("\xc0\xaf") == "??");            // overlong encoding
    CHECK(printable("\xf4\x90\x80\x80") == "????");  // beyond the last code point
}

TEST_CASE("printable: long text is cut between characters") {
    CHECK(printable(std::string(80, 'x')) == std::string(80, 'x'));
    CHECK(printable(std::string(81, 'x')) == std::string(80, 'x') + "...");
    CHECK(printable("a\xc3\xbc\xc3\xbc", 4) == "a\xc3\xbc...");
}

TEST_CASE("columns: counts what a terminal shows") {
    CHECK(columns("") == 0);
    CHECK(columns("abc") == 3);
    CHECK(columns("gr\xc3\xbc\xc3\x9f"
                  "e") == 5);
    CHECK(columns("\xe6\x97\xa5\xe6\x9c\xac") == 4);  // East Asian
    CHECK(columns("\xf0\x9f\x8e\x89") == 2);          // an emoji
    CHECK(columns("e\xcc\x81") == 1);                 // a combining mark
}

TEST_CASE("StyledLine: colours stand around pieces") {
    const StyledLine line =
        StyledLine().add("a ", Tone::faint).add("+ b", Tone::added).add("").add(" c");
    CHECK(line.text(0, false) == "a + b c");
    CHECK(line.text(0, true) == "\x1b[2ma \x1b[0m\x1b[32m+ b\x1b[0m c");
}

TEST_CASE("StyledLine: a line that does not fit ends in an ellipsis") {
    const StyledLine line = StyledLine().add("abc").add("def", Tone::added);
    CHECK(line.text(6, false) == "abcdef");
    CHECK(line.text(5, false) == "abcd\xe2\x80\xa6");
    CHECK(line.text(4, false) == "abc\xe2\x80\xa6");
    CHECK(line.text(1, false) == "\xe2\x80\xa6");
    CHECK(seen(line.text(5, true)) == line.text(5, false));
    // A character of two columns is not split.
    CHECK(StyledLine().add("\xe6\x97\xa5\xe6\x9c\xac").text(3, false) ==
          "\xe6\x97\xa5\xe2\x80\xa6");
}

TEST_CASE("StyledLine: whatever bytes come, the line fits and no escape is ours but colours") {
    std::mt19937 random(1);  // NOLINT: the same bytes each time
    const auto number = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
    constexpr Tone tones[] = {Tone::plain, Tone::added, Tone::warning, Tone::faint};
    for (int round = 0; round < 2000; ++round) {
        StyledLine line;
        for (unsigned piece = number(4); piece-- > 0;) {
            std::string text;
            for (unsigned i = number(30); i-- > 0;) {
                text += static_cast<char>(number(2) == 0 ? number(255) : 'a' + number(25));
            }
            line.add(printable(text), tones[number(3)]);
        }
        const std::size_t width = 1 + number(60);
        const std::string coloured = line.text(width, true);
        const std::string plain = line.text(width, false);
        REQUIRE(seen(coloured) == plain);
        REQUIRE(columns(plain) <= width);
        REQUIRE(plain.find('\x1b') == std::string::npos);
        REQUIRE(printable(plain, 10'000) == plain);
    }
}

TEST_CASE("first_lines: counts the lines that it leaves out") {
    using support::first_lines;
    CHECK(first_lines("one\ntwo\n", 8) == "one\ntwo\n");
    CHECK(first_lines("one\ntwo\n", 7) == "one\nand 1 more lines\n");
    CHECK(first_lines("one\ntwo\nthree", 8) == "one\ntwo\nand 1 more lines\n");
    CHECK(first_lines("one\ntwo\nthree", 3) == "and 3 more lines\n");
    CHECK(first_lines("", 3) == "");
}
