#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/labels.hpp"

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>

using namespace k8s_sd;
using k8s_sd::detail::SeriesSelector;

namespace {

bool matches(const std::string& selector, const LabelMap& map) {
    MutableLabels labels;
    for (const auto& [name, value] : map) labels.set(name, value);
    const RelabelLimits limits;
    detail::PatternBudget patterns(limits);
    detail::RelabelBudget budget(limits);
    return SeriesSelector(selector, patterns).matches(labels, budget);
}

std::string problem(const std::string& selector) {
    try {
        const RelabelLimits limits;
        detail::PatternBudget patterns(limits);
        const SeriesSelector parsed(selector, patterns);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return {};
}

}  // namespace

TEST_CASE("SeriesSelector: all conditions have to hold, an absent label is empty") {
    const LabelMap web{{"__name__", "up"}, {"app", "web"}, {"tier", "c"}};
    CHECK(matches("up", web));
    CHECK_FALSE(matches("down", web));
    CHECK(matches("{app=\"web\"}", web));
    CHECK(matches("up{app=\"web\",tier!~\"a|b\"}", web));
    CHECK_FALSE(matches("up{app=\"web\",tier=~\"a|b\"}", web));
    CHECK_FALSE(matches("down{app=\"web\"}", web));
    CHECK(matches("{app!=\"x\"}", web));
    CHECK_FALSE(matches("{app!=\"web\"}", web));
    CHECK(matches("{none=\"\"}", web));
    CHECK_FALSE(matches("{none!=\"\"}", web));
    CHECK(matches("{none=~\"x|\"}", web));
    CHECK_FALSE(matches("{none!~\"x|\"}", web));
    CHECK(matches("{none!~\".+\"}", web));
    CHECK_FALSE(matches("{app=~\"we\"}", web));  // matches the whole value
    CHECK(matches("up{}", web));
    CHECK_FALSE(matches("{}", web));  // accepts no series without a matcher
    CHECK_FALSE(matches("{}", {}));
    CHECK(matches("{__name__=~\"u.\"}", web));
    // a missing name differs from an empty one
    CHECK_FALSE(matches("{__name__=\"\"}", {{"a", "1"}}));
    CHECK(matches("{__name__!=\"\"}", {{"a", "1"}}));
    CHECK(matches("{__name__=~\"|x\"}", {{"a", "1"}}));
}

TEST_CASE("SeriesSelector: a backslash takes any character into a name") {
    const LabelMap odd{{"foo.bar", "1"}, {"foo-bar", "2"}, {"a b", "3"}, {"\xc3\xbc{", "4"}};
    CHECK(matches("{foo\\.bar=\"1\"}", odd));
    CHECK(matches("{foo\\-bar=\"2\"}", odd));
    CHECK(matches("{foo\\x2dbar=\"2\"}", odd));
    CHECK(matches("{foo\\u002dbar=\"2\"}", odd));
    CHECK(matches("{a\\ b=\"3\"}", odd));
    CHECK(matches("{\\\xc3\xbc\\{=\"4\"}", odd));
    CHECK(matches("foo\\-bar{a=\"1\"}", {{"__name__", "foo-bar"}, {"a", "1"}}));
    CHECK(matches("{or\\-else=\"1\" or or\\-not=\"1\"}", {{"or-not", "1"}}));
}

TEST_CASE("SeriesSelector: `or` binds weaker than the comma, and the name is for all") {
    const std::string selector = "up{a=\"1\",b=\"1\" or c=\"1\"}";
    CHECK(matches(selector, {{"__name__", "up"}, {"a", "1"}, {"b", "1"}}));
    CHECK(matches(selector, {{"__name__", "up"}, {"c", "1"}}));
    CHECK_FALSE(matches(selector, {{"__name__", "up"}, {"a", "1"}}));
    CHECK_FALSE(matches(selector, {{"c", "1"}}));
    CHECK(matches("{a=\"1\" OR\n b=\"1\" or c=\"1\"}", {{"b", "1"}}));
    CHECK(matches("{or=\"1\" or orange=\"1\"}", {{"or", "1"}}));
    CHECK(matches("{or=\"1\" or orange=\"1\"}", {{"orange", "1"}}));
}

TEST_CASE("SeriesSelector: space, trailing commas, names in quotes and of any script") {
    CHECK(
        matches(" up { a = \"1\" ,\n b =~ '1' , } ", {{"__name__", "up"}, {"a", "1"}, {"b", "1"}}));
    CHECK(matches("{\"my.name\", \"a b\"=\"1\"}", {{"__name__", "my.name"}, {"a b", "1"}}));
    CHECK(matches("{a.b:c=\"1\",\xc3\xa9=\"2\"}", {{"a.b:c", "1"}, {"\xc3\xa9", "2"}}));
    CHECK(matches("a:b", {{"__name__", "a:b"}}));
}

TEST_CASE("SeriesSelector: strings have the quotes and escapes of PromQL") {
    const auto value = [](const std::string& quoted, const std::string& text) {
        return matches("{a=" + quoted + "}", {{"a", text}});
    };
    CHECK(value("\"x'`\"", "x'`"));
    CHECK(value("'x\"`'", "x\"`"));
    CHECK(value("`x\"'\\n\n`", "x\"'\\n\n"));
    CHECK(value(R"("\a\b\f\n\r\t\v\\\"\'")", "\a\b\f\n\r\t\v\\\"'"));
    CHECK(value(R"("\x41\101\u00e9\U0001F600")", "AA\xc3\xa9\xf0\x9f\x98\x80"));
    CHECK(matches(R"({a=~"x\\.y"})", {{"a", "x.y"}}));
    CHECK_FALSE(matches(R"({a=~"x\\.y"})", {{"a", "xzy"}}));
    CHECK(matches("{a=~`x\\.y`}", {{"a", "x.y"}}));
}

TEST_CASE("SeriesSelector: errors say where and what") {
    struct Case {
        std::string selector, problem;
    };
    const Case cases[] = {
        {"", "cannot be parsed at byte 1: expected a metric's name or '{'"},
        {"{", "cannot be parsed at byte 2: expected a label's name"},
        {"{foo", "cannot be parsed at byte 5: expected one of = != =~ !~"},
        {"foo{", "cannot be parsed at byte 5: expected a label's name"},
        {"{a=b}", "cannot be parsed at byte 4: expected a value in quotes"},
        {"{a==\"b\"}", "cannot be parsed at byte 4: expected a value in quotes"},
        {"{a=\"b\" or}", "cannot be parsed at byte 10: expected a label's name"},
        {"{a=\"b\" c=\"d\"}", "cannot be parsed at byte 8: expected ',', 'or' or '}'"},
        {"{a=\"b\" orange=\"d\"}", "cannot be parsed at byte 8: expected ',', 'or' or '}'"},
        {"{,}", "cannot be parsed at byte 2: expected a label's name"},
        {"{a=\"b\"}x", "cannot be parsed at byte 8: expected the end"},
        {"foo+bar", "cannot be parsed at byte 4: expected the end"},
        {"9a", "cannot be parsed at byte 1: expected a metric's name or '{'"},
        {"{a=\"b", "cannot be parsed at byte 6: expected the closing \""},
        {"{a='b\n'}", "cannot be parsed at byte 6: expected the closing '"},
        {"{a=\"\\d\"}",
         "cannot be parsed at byte 6: unknown escape; write two backslashes for one"},
        {"{a=\"\\", "cannot be parsed at byte 6: unknown escape; write two backslashes for one"},
        {"{a=\"\\x4\"}", "cannot be parsed at byte 8: this escape needs more digits"},
        {"{a=\"\\ud800\"}", "cannot be parsed at byte 11: no such character"},
        {"{a=\"\\U00110000\"}", "cannot be parsed at byte 15: no such character"},
        {"{a=\"\\777\"}", "cannot be parsed at byte 9: an octal escape is at most \\377"},
        {"{a=~\"(\"}", "cannot be parsed at byte 5: no valid regular expression (RE2): missing )"},
        {"{a=\"\xff\"}", "cannot be parsed at byte 5: is not UTF-8"},
    };
    for (const Case& c : cases) {
        INFO(c.selector);
        CHECK(problem(c.selector) == c.problem);
    }
}

TEST_CASE("SeriesSelector: no prefix of a selector does harm") {
    const std::string selector = "up{a=\"\\x41\\u00e9\",b!~'x|y' or \"c d\"=~`z`,}";
    CHECK(problem(selector) == "");
    for (std::size_t i = 0; i < selector.size(); ++i) {
        INFO(i);
        const bool is_name = i == 1 || i == 2;
        CHECK((problem(selector.substr(0, i)) == "") == is_name);
    }
}
