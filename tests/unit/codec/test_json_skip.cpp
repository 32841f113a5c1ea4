#include "k8s_sd/detail/codec/json/json_skip.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace k8s_sd::detail;

namespace {

struct Passed {
    std::size_t size = 0;  ///< meaningless after a failure
    bool failed = false, done = false;

    friend bool operator==(const Passed&, const Passed&) = default;
};

std::vector<JsonSkip::Means> all_means() {
    std::vector<JsonSkip::Means> means{JsonSkip::Means::portable, JsonSkip::Means::common};
    if (JsonSkip::means() != JsonSkip::Means::common) means.push_back(JsonSkip::means());
    return means;
}

Passed pass(JsonSkip::Means means, const std::vector<std::string_view>& pieces,
            std::size_t max_depth = max_json_depth) {
    JsonSkip skip(means);
    skip.begin(max_depth);
    Passed passed;
    for (const std::string_view piece : pieces) {
        // A copy, so that a sanitizer detects reads beyond its end.
        const std::vector<char> copy(piece.begin(), piece.end());
        const char* const end = skip.pass(copy.data(), copy.data() + copy.size());
        passed.size += static_cast<std::size_t>(end - copy.data());
        if (skip.failed()) return {0, true, false};
        if (skip.done()) return {passed.size, false, true};
    }
    return passed;
}

/// The same, one character after the other.
Passed pass_slowly(std::string_view text) {
    std::string open;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (static_cast<unsigned char>(c) < 0x20) return {0, true, false};
            if (c == '"') in_string = false;
            if (c == '\\' && ++i < text.size() && static_cast<unsigned char>(text[i]) < 0x20) {
                return {0, true, false};
            }
        } else if (c == '\\') {
            return {0, true, false};
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            open += c;
        } else if (c == '}' || c == ']') {
            if (open.back() != (c == '}' ? '{' : '[')) return {0, true, false};
            open.pop_back();
            if (open.empty()) return {i + 1, false, true};
        }
    }
    return {text.size(), false, false};
}

std::string many(std::size_t times, std::string_view text) {
    std::string all;
    while (times-- > 0) all += text;
    return all;
}

}  // namespace

TEST_CASE("JsonSkip: ends behind the bracket that closes the first one") {
    for (const std::string& text :
         {std::string("{}"), std::string("[]"), std::string("[[],{}]"),
          std::string(R"({"a":"}","b":["]",{"c\"}":"\\"}]})"), "[\"" + many(63, "\\\\") + "\"]",
          "{\"" + many(200, "}") + "\":[" + many(100, "{},") + "{}]}", "[" + many(500, " ") + "]",
          std::string("[1 2]"), std::string(R"({"a"})"), std::string(R"(["\x"])")}) {
        for (const JsonSkip::Means means : all_means()) {
            CAPTURE(text, means);
            CHECK(pass(means, {text + R"(,"next":1])"}) == Passed{text.size(), false, true});
            for (std::size_t cut = 1; cut <= text.size(); ++cut) {
                const std::string_view view(text);
                CHECK(pass(means, {view.substr(0, cut), view.substr(cut)}).size == text.size());
            }
        }
    }
}

TEST_CASE("JsonSkip: what does not end is not done") {
    for (const std::string& text :
         {std::string("["), std::string("{\"}"), std::string("{\"}\\"), std::string("{\"}\\\""),
          many(64, "["), many(100, "[") + many(99, "]")}) {
        for (const JsonSkip::Means means : all_means()) {
            CAPTURE(text, means);
            CHECK(pass(means, {text}) == Passed{text.size(), false, false});
        }
    }
}

TEST_CASE("JsonSkip: brackets that do not match, control characters in strings and backslashes "
          "outside of them are refused") {
    for (const std::string& text :
         {std::string("[}"), std::string("{]"), std::string("[{]}"), std::string("[{},[}]"),
          std::string("[\"\n\"]"), std::string("[\"\\\n\"]"), std::string("[\"\0\"]", 5),
          std::string("[\\\"]"), std::string("[]").insert(1, many(70, "{}") + "{]")}) {
        for (const JsonSkip::Means means : all_means()) {
            CAPTURE(text, means);
            CHECK(pass(means, {text}).failed);
        }
    }
    // Bytes after the value are not consumed.
    for (const JsonSkip::Means means : all_means()) {
        CHECK(pass(means, {"[]}\\\"\n"}) == Passed{2, false, true});
    }
}

TEST_CASE("JsonSkip: nesting has a limit, which empty brackets do not reach") {
    for (const JsonSkip::Means means : all_means()) {
        CAPTURE(means);
        for (const std::size_t most : {1U, 2U, 63U, 64U, 65U, 256U}) {
            const auto nested = [](std::size_t depth) {
                return many(depth, "[") + "1" + many(depth, "]");
            };
            CHECK(pass(means, {nested(most)}, most).done);
            CHECK(pass(means, {nested(most + 1)}, most).failed);
            CHECK(pass(means, {nested(most + 1000)}, most).failed);
            const std::string text = nested(most + 1);
            std::vector<std::string_view> bytes;
            for (std::size_t i = 0; i < text.size(); ++i) {
                bytes.push_back(std::string_view(text).substr(i, 1));
            }
            CHECK(pass(means, bytes, most).failed);
        }
    }
}

TEST_CASE("JsonSkip: finds in random characters what a slow reader finds, however they are cut") {
    std::mt19937 random(7);
    constexpr std::string_view alphabet = "{}[]{}[]\"\"\\\\\\a, \n\x80";
    int done = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text = random() % 2 == 0 ? "{" : "[";
        const std::size_t size = random() % 200;
        // Mostly strings, so that many texts stay valid for long.
        const bool calm = random() % 2 == 0;
        while (text.size() < size) {
            text += calm ? "{}[]\"a"[random() % 6] : alphabet[random() % alphabet.size()];
            if (calm && text.back() == '"') text += many(random() % 40, "\\\\") + "]}\\\"x\"";
        }
        const Passed expected = pass_slowly(text);
        done += expected.done ? 1 : 0;
        for (const JsonSkip::Means means : all_means()) {
            std::vector<std::string_view> pieces;
            for (std::string_view rest = text; !rest.empty();) {
                const std::size_t piece = std::min<std::size_t>(1 + random() % 90, rest.size());
                pieces.push_back(rest.substr(0, piece));
                rest.remove_prefix(piece);
            }
            if (!(pass(means, {text}) == expected && pass(means, pieces) == expected)) {
                FAIL(text << " by means " << static_cast<int>(means));
            }
        }
    }
    CHECK(done > 1000);
}

TEST_CASE("JsonBlock: every character is found by all means") {
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    for (std::size_t at = 0; at < all.size(); at += JsonBlock::size) {
        JsonBlock portable = portable_json_block(all.data() + at);
        JsonBlock common = json_block(all.data() + at);
        CHECK(portable == common);
        for (std::size_t i = 0; i < JsonBlock::size; ++i) {
            const auto c = static_cast<unsigned char>(all[at + i]);
            const auto bit = [&](std::uint64_t bits) { return (bits >> i & 1U) != 0; };
            CHECK(bit(common.quotes) == (c == '"'));
            CHECK(bit(common.backslashes) == (c == '\\'));
            CHECK(bit(common.opening) == (c == '{' || c == '['));
            CHECK(bit(common.closing) == (c == '}' || c == ']'));
            CHECK(bit(common.control) == (c < 0x20));
            if (c == '[' || c == ']') CHECK(bit(common.square));
            if (c == '{' || c == '}') CHECK_FALSE(bit(common.square));
        }
    }
}

TEST_CASE("find_end_of_text: stops at quotes, backslashes, control characters and the end") {
    for (std::size_t size = 0; size < 70; ++size) {
        const std::string plain(size, 'x');
        CHECK(find_end_of_text(plain.data(), plain.data() + size) == plain.data() + size);
        for (const char c : {'"', '\\', '\n', '\0', '\x1f'}) {
            const std::string text = plain + c + "\"xxxxxxxxxxxxxxxxxxxxxxxxx";
            CHECK(find_end_of_text(text.data(), text.data() + text.size()) == text.data() + size);
        }
        const std::string high = plain + "\x7f\x80\xff ";
        CHECK(find_end_of_text(high.data(), high.data() + high.size()) ==
              high.data() + high.size());
    }
}
