#include "k8s_sd/detail/text/trailing_space.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd::detail;
using k8s_sd::test::step_of;

TEST_CASE("utf8: every code point can be written, recognised and read") {
    for (std::uint32_t code = 0; code <= 0x10ffff; code += std::uint32_t{step_of(13)}) {
        if (code >= 0xd800 && code < 0xe000) code = 0xe000;  // no surrogates
        std::string text;
        append_utf8(text, code);
        const std::size_t length = utf8_length(text + "x");
        if (length != text.size() || decode_utf8(text) != code || !is_utf8(text)) FAIL(code);
    }
    CHECK(utf8_length("") == 0);
}

TEST_CASE("utf8: a bad byte is found wherever it stands") {
    for (const std::string bad : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                                  "\xf4\x90\x80\x80", "\xf0\x9f\x98", "\xff"}) {
        for (std::size_t before = 0; before < 20; ++before) {
            for (std::size_t after = 0; after < 20; ++after) {
                const std::string text = std::string(before, 'a') + bad + std::string(after, 'b');
                if (find_invalid_utf8(text) != before) FAIL(before << ' ' << after);
            }
            const std::string good = std::string(before, 'a') + "\xc3\xa9" + std::string(9, 'b');
            CHECK(find_invalid_utf8(good) == good.size());
            CHECK(find_invalid_utf8("\xf0\x9f\x98\x80" + good + bad) == good.size() + 4);
        }
    }
}

TEST_CASE("utf8: a byte that is not ASCII is found wherever it stands") {
    for (std::size_t size = 0; size < 40; ++size) {
        std::string text(size, '\x7f');
        CHECK(is_ascii(text));
        for (char& byte : text) {
            byte = '\x80';
            if (is_ascii(text) || is_utf8(text)) FAIL("of " << size);
            byte = 'a';
        }
    }
}

TEST_CASE("utf8: each byte that belongs to no character is replaced on its own") {
    const auto mended = [](std::string_view text) {
        std::string out;
        for_each_utf8_part(text, [&](std::string_view part) { out += part; });
        return out;
    };
    const std::string r(replacement_character);
    CHECK(mended("").empty());
    CHECK(mended("plain text of some length") == "plain text of some length");
    CHECK(mended("\xFF") == r);
    CHECK(mended("\x80\xBF") == r + r);
    CHECK(mended("\xC0\xAF") == r + r);
    CHECK(mended("\xC1\x81") == r + r);
    CHECK(mended("\xE2\x82") == r + r);
    CHECK(mended("\xE0\x80\x80") == r + r + r);
    CHECK(mended("\xED\xA0\x80") == r + r + r);
    CHECK(mended("\xF0\x80\x80\x80") == r + r + r + r);
    CHECK(mended("\xF4\x90\x80\x80") == r + r + r + r);
    CHECK(mended("\xF8\x88\x80\x80\x80") == r + r + r + r + r);
    CHECK(mended("é\xE2\x82€\xC3") == "é" + r + r + "€" + r);
    // At any position within the eight bytes that are checked together.
    for (std::size_t at = 0; at < 20; ++at) {
        const std::string before(at, 'a'), after(19 - at, 'b');
        CHECK(mended(before + "\xFE" + after) == before + r + after);
        CHECK(mended(before + "ü" + after) == before + "ü" + after);
    }
}

TEST_CASE("utf8: white space at the end is cut off as Go does it") {
    CHECK(trim_trailing_space("") == "");
    CHECK(trim_trailing_space(" \t\n\v\f\r") == "");
    CHECK(trim_trailing_space(" a b \n") == " a b");
    for (const char* space : {"\u0085", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029",
                              "\u202f", "\u205f", "\u3000"}) {
        CHECK(trim_trailing_space(std::string("a ") + space) == "a");
    }
    for (const char* other :
         {"\u200b", "\u00e9", "\ufeff", "\x85", "\xa0", "\x80\x80\x80\x80\x80"}) {
        const std::string text = std::string("a") + other;
        CHECK(trim_trailing_space(text) == text);
    }
}
