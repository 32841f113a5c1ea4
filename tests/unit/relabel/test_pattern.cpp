#include "k8s_sd/detail/relabel/pattern.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using k8s_sd::detail::Pattern;
using k8s_sd::detail::SimplePattern;
using k8s_sd::test::rounds;

namespace {

using Groups = std::vector<std::string>;

/// The match of a pattern in a text: no groups if it does not match.
Groups match(const Pattern& pattern, std::string_view text) {
    std::vector<std::string_view> views(pattern.group_count() + 1);
    if (!pattern.match(text, views)) return {};
    return {views.begin(), views.end()};
}

std::string replace_all(const Pattern& pattern, std::string_view text) {
    std::string result;
    const auto replace = [](std::span<const std::string_view> groups, std::string& to) {
        for (const std::string_view group : groups) to += "<" + std::string(group) + ">";
    };
    pattern.replace_all(text, pattern.group_count() + 1, replace, result);
    return result;
}

bool is_simple(const std::string& regex) { return SimplePattern::parse(regex).has_value(); }

/// Fragments of patterns and texts, so that many of them match.
class Generator {
 public:
    std::string regex() {
        static const std::vector<std::string> pieces{
            "a",    "ab",   "a\\.b", "__meta_", "b-c", "(.*)", "(.+)",  ".*",    ".+",   "(?:.*)",
            "(?:",  "(",    ")",     "|",       "^",   "$",    "\\$",   "\\|",   "a|ab", "(a|b)",
            "(ab)", "\\_",  "\\:",   "\\/",     "{",   "*",    "?",     "+",     "(?i)", "\\d",
            "]",    "[ab]", "",      "\\\\",    " ",   "()",   "(a.*)", "(a.*b)"};
        return text_of(pieces, 5);
    }
    std::string text() {
        static const std::vector<std::string> pieces{
            "a", "ab", "b", "a.b", "__meta_", "b-c", "\n",   "$",        "|", "_",
            ":", "/",  "{", "\\",  " ",       "A",   "\xff", "\xc3\xa9", "1", std::string(1, '\0'),
            "]"};
        return text_of(pieces, 4);
    }

 private:
    std::string text_of(const std::vector<std::string>& pieces, std::size_t most) {
        std::string result;
        for (std::size_t n = below(most + 1); n > 0; --n) result += pieces[below(pieces.size())];
        return result;
    }
    std::size_t below(std::size_t n) { return random_() % n; }

    std::mt19937_64 random_{20240301};
};

}  // namespace

TEST_CASE("Pattern: what everybody writes needs no regular expression engine") {
    for (const char* regex : {"",
                              "(.*)",
                              "(.+)",
                              ".+",
                              "foo",
                              "a\\.b",
                              "foo|bar|baz",
                              "(foo|bar)",
                              "(?:foo|bar)",
                              "__meta_kubernetes_pod_label_(.+)",
                              "prefix.*",
                              "(b.*)",
                              "^metrics$",
                              "true",
                              "default;kubernetes;https",
                              "a|",
                              "10\\.0\\.0\\.1\\:80",
                              "app\\-x(.*)",
                              "(a);true",
                              "(a|b);true",
                              "(?:a|b)c",
                              "()",
                              "x()y",
                              "(.+);",
                              ".*b",
                              "(.*)b",
                              "(a.*)b",
                              "(a.*b)",
                              "a(.+)b;c"}) {
        INFO(regex);
        CHECK(is_simple(regex));
    }
    for (const char* regex : {"a|b.*", "(a)(b)",   "a$|b",        "(?i)a",   "a.b",     "https?",
                              "[a]",   "(?P<n>a)", "a*",          "(a.*)b+", "(.*",     "a)",
                              "a\\",   "\xc3\xa9", "foo)|(?:bar", "\\Qa\\E", "(a)b+",   "(a)b|c",
                              "x(a)y", "(.*?)b",   "(1.2);true",  ".*b.*",   "0;|.+;.+"}) {
        INFO(regex);
        CHECK_FALSE(is_simple(regex));
    }
}

TEST_CASE("Pattern: the short cuts find what RE2 finds, for thousands of patterns and texts") {
    Generator generator;
    std::size_t simple = 0;
    std::size_t matches = 0;
    for (int i = 0; i < rounds(40'000); ++i) {
        const std::string regex = generator.regex();
        if (!is_simple(regex)) continue;
        ++simple;
        INFO("regex " << regex);
        const Pattern fast(regex);
        const Pattern slow(regex, Pattern::Anchors::both, Pattern::Engine::re2);
        REQUIRE(fast.group_count() == slow.group_count());
        for (int k = 0; k < 20; ++k) {
            const std::string text = generator.text();
            const Groups expected = match(slow, text);
            if (!expected.empty()) ++matches;
            INFO("text " << text);
            REQUIRE(match(fast, text) == expected);
            REQUIRE(fast.matches(text) == slow.matches(text));
            REQUIRE(replace_all(fast, text) == replace_all(slow, text));
        }
    }
    CHECK(simple > rounds(5'000U));
    CHECK(matches > rounds(10'000U));
}

TEST_CASE("Pattern: a literal in front of other alternatives is found as RE2 finds it") {
    Generator generator;
    for (const char* regex : {"0;|.+;.+", "a|(a).*", "|b*(a)", "ab|(a|b)+", "a.b|x", "a|b.*|(b)"}) {
        INFO("regex " << regex);
        const Pattern fast(regex);
        const Pattern slow(regex, Pattern::Anchors::both, Pattern::Engine::re2);
        for (int i = 0; i < 2'000; ++i) {
            const std::string text = i % 4 == 0 ? "0;" : generator.text();
            INFO("text " << text);
            REQUIRE(match(fast, text) == match(slow, text));
        }
    }
}

TEST_CASE("Pattern: bytes that are not UTF-8 are characters, and groups have the original bytes") {
    const auto slow = [](const std::string& regex) {
        return Pattern(regex, Pattern::Anchors::both, Pattern::Engine::re2);
    };
    CHECK(match(slow("(.*)"), "a\xff\xfe") == Groups{"a\xff\xfe", "a\xff\xfe"});
    CHECK(match(slow("a(.)(.)"), "a\xff\xc3") == Groups{"a\xff\xc3", "\xff", "\xc3"});
    CHECK(match(slow("a(.)"), "a\xff\xfe").empty());
    CHECK(match(slow("(\xef\xbf\xbd)b"), "\x80"
                                         "b") == Groups{"\x80"
                                                        "b",
                                                        "\x80"});
    CHECK(match(slow("([^a]+)(x?)"), "\xe2\x82") == Groups{"\xe2\x82", "\xe2\x82", ""});
    CHECK(replace_all(Pattern("\\w", Pattern::Anchors::none), "a\xff"
                                                              "b") == "<a>\xff<b>");
}

TEST_CASE("Pattern: NUL is a character like others") {
    using std::string_literals::operator""s;
    CHECK(match(Pattern("a.b"), "a\0b"s) == Groups{"a\0b"s});
    CHECK(match(Pattern("a\0b"s), "a\0b"s) == Groups{"a\0b"s});
    CHECK(match(Pattern("a(.*)"), "a\0"s) == Groups{"a\0"s, "\0"s});
    CHECK_FALSE(Pattern("a").matches("a\0"s));
}

TEST_CASE("Pattern: huge and deeply nested regular expressions end in a match or an error") {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '(') + "a" + std::string(depth, ')');
    };
    CHECK(Pattern(nested(500)).matches("a"));
    for (const std::string& regex : {nested(100'000), std::string(100'000, '('),
                                     "(?:" + std::string(100'000, 'a') + ")?{1000}",
                                     std::string("((((a{100}){100}){100}){100})")}) {
        try {
            Pattern(regex).matches("a");
        } catch (const std::invalid_argument& e) {
            CHECK(std::string(e.what()).size() < 2 * regex.size() + 1000);
        }
    }
    std::string alternatives;
    for (int i = 0; i < 50'000; ++i) alternatives += "pod-" + std::to_string(i) + "|";
    CHECK(Pattern(alternatives).matches("pod-49999"));
    CHECK_FALSE(Pattern(alternatives).matches("pod-50000"));
    // A pattern with exponential cost in backtracking engines.
    CHECK_FALSE(Pattern("(a*)*(a|b)*c").matches(std::string(100'000, 'a')));
}

TEST_CASE("Patterns in common: one for all who have its text at a time") {
    using k8s_sd::detail::shared_pattern;
    const auto a = shared_pattern("a(b|c)+d");
    CHECK(shared_pattern("a(b|c)+d") == a);
    CHECK(shared_pattern("a(b|c)+e") != a);
    CHECK(shared_pattern("a(b|c)+d", Pattern::Anchors::none) != a);
    CHECK(a->matches("abcd"));
    CHECK_FALSE(a->matches("xabcd"));
    CHECK(shared_pattern("a(b|c)+d", Pattern::Anchors::none)->matches("xabcd"));
    CHECK_THROWS_AS(shared_pattern("("), std::invalid_argument);
    // Releasing a pattern does not affect other users, and an unused one is compiled again.
    for (int i = 0; i < 1000; ++i) {
        const auto other = shared_pattern("x+" + std::to_string(i));
        CHECK(other->matches("xx" + std::to_string(i)));
    }
    CHECK(shared_pattern("a(b|c)+d") == a);
}

TEST_CASE("Patterns in common: several threads get the same one") {
    using k8s_sd::detail::shared_pattern;
    for (int round = 0; round < 20; ++round) {
        const std::string regex = "thread(s+)" + std::to_string(round);
        std::vector<std::shared_ptr<const Pattern>> found(8);
        std::vector<std::thread> threads;
        for (auto& place : found) threads.emplace_back([&] { place = shared_pattern(regex); });
        for (std::thread& thread : threads) thread.join();
        for (const auto& pattern : found) CHECK(pattern == found.front());
    }
}
