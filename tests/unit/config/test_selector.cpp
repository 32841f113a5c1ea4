#include "k8s_sd/error.hpp"
#include "k8s_sd/selector.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <random>

using k8s_sd::ConfigError;
using k8s_sd::FieldSelector;
using k8s_sd::LabelSelector;

namespace {

using Map = std::map<std::string, std::string, std::less<>>;

auto lookup(const Map& map) {
    return [&map](std::string_view key) -> std::optional<std::string_view> {
        const auto found = map.find(key);
        if (found == map.end()) return std::nullopt;
        return found->second;
    };
}

bool selects(std::string_view selector, const Map& labels) {
    return LabelSelector::parse(selector).matches(lookup(labels));
}

bool selects_fields(std::string_view selector, const Map& fields) {
    return FieldSelector::parse(selector).matches(lookup(fields));
}

std::string label_problem(std::string_view selector) {
    try {
        LabelSelector::parse(selector);
    } catch (const ConfigError& e) {
        CHECK(e.where() == "label selector");
        return e.problem();
    }
    return "parsed";
}

const Map web{{"app", "web"}, {"tier", "a"}, {"example.com/owner", "me"}, {"size", "7"}};

}  // namespace

TEST_CASE("LabelSelector: an empty text selects everything") {
    CHECK(LabelSelector::parse("").empty());
    CHECK(LabelSelector::parse(" \t\n").empty());
    CHECK(selects("", {}));
    CHECK(selects("", web));
}

TEST_CASE("LabelSelector: each operator selects as the API server does") {
    struct Row {
        std::string_view selector;
        bool selected;
    };
    for (const Row& row : std::initializer_list<Row>{
             {"app=web", true},
             {"app==web", true},
             {"app = web", true},
             {"app=db", false},
             {"app!=db", true},
             {"app!=web", false},
             {"none!=x", true},
             {"none=x", false},
             {"none=", false},
             {"app in (db,web)", true},
             {"app in(web)", true},
             {"app in (db)", false},
             {"none in (db)", false},
             {"app notin (db,cache)", true},
             {"app notin (web)", false},
             {"none notin (web)", true},
             {"app", true},
             {"none", false},
             {"!none", true},
             {"! none", true},
             {"!app", false},
             {"example.com/owner=me", true},
             {"size>6", true},
             {"size>7", false},
             {"size<8", true},
             {"app>1", false},
             {"none<1", false},
             {"app=web,tier=a", true},
             {"app=web , tier=b", false},
             {"app,!none,tier in (a,b),size notin (8)", true},
         }) {
        INFO(row.selector);
        CHECK(selects(row.selector, web) == row.selected);
    }
}

TEST_CASE("LabelSelector: keywords may be keys and values") {
    CHECK(selects("in=notin", {{"in", "notin"}}));
    CHECK(selects("notin in (in)", {{"notin", "in"}}));
    CHECK(selects("!in", {}));
}

TEST_CASE("LabelSelector: an empty value is a value") {
    CHECK(selects("a=", {{"a", ""}}));
    CHECK(selects("a=,b=1", {{"a", ""}, {"b", "1"}}));
    CHECK(selects("a in (,x)", {{"a", ""}}));
    CHECK(selects("a in (x,)", {{"a", ""}}));
    CHECK_FALSE(selects("a=", {{"a", "x"}}));
}

TEST_CASE("LabelSelector: lists of values are those of labels.Parse") {
    using Values = std::vector<std::string>;
    const auto values = [](const std::string& list) {
        return LabelSelector::parse("a in " + list).requirements().at(0).values;
    };
    CHECK(values("()") == Values{""});
    CHECK(values("( )") == Values{""});
    CHECK(values("(,)") == Values{""});
    CHECK(values("(,,,)") == Values{""});
    CHECK(values("(,b)") == Values{"", "b"});
    CHECK(values("(b,)") == Values{"", "b"});
    CHECK(values("(b,,c)") == Values{"", "b", "c"});
    CHECK(values("(,,b)") == Values{"", "b"});
    CHECK(values("(b,,,c)") == Values{"", "b", "c"});
    CHECK(values("(b,,,)") == Values{"", "b"});
    CHECK(values("(in,notin)") == Values{"in", "notin"});
    // labels.Parse requires a value after each second comma.
    for (const char* list : {"(,,)", "(b,,)", "(,,,,)", "(b,,,,)", "(b,c,,)"}) {
        INFO(list);
        CHECK_THROWS_AS(values(list), ConfigError);
    }
    CHECK(selects("a in ()", {{"a", ""}}));
    CHECK_FALSE(selects("a in ()", {{"a", "x"}}));
    CHECK_FALSE(selects("a in ()", {}));
    CHECK_FALSE(selects("a notin ()", {{"a", ""}}));
    CHECK(selects("a notin ()", {{"a", "x"}}));
    CHECK(selects("a notin ()", {}));
}

TEST_CASE("LabelSelector: values of a list are sorted and unique") {
    const auto selector = LabelSelector::parse("a in (z,b,z)");
    REQUIRE(selector.requirements().size() == 1);
    CHECK(selector.requirements()[0].values == std::vector<std::string>{"b", "z"});
    CHECK(selector == LabelSelector::parse("a in (b, z)"));
}

TEST_CASE("LabelSelector: an error names the position and what was expected") {
    CHECK(label_problem("app=web;") ==
          "cannot be parsed at character 5: found 'web;', a label value is empty or has at most 63 "
          "letters, digits, '-', '_' or '.' and begins and ends with a letter or digit");
    CHECK(label_problem("app in web") ==
          "cannot be parsed at character 8: found 'web', expected '('");
    CHECK(label_problem("a,") ==
          "cannot be parsed at character 3: found the end, expected a label key");
}

TEST_CASE("LabelSelector: what the API server rejects is rejected") {
    const std::string long_name(64, 'a');
    for (const std::string& text : std::vector<std::string>{",",
                                                            ",a",
                                                            "a,,b",
                                                            "a,",
                                                            "=",
                                                            "=b",
                                                            "!",
                                                            "!!a",
                                                            "!a=b",
                                                            "a b",
                                                            "a=b c",
                                                            "a=(b)",
                                                            "a in",
                                                            "a in (",
                                                            "a in (b",
                                                            "a in b",
                                                            "a in (b c)",
                                                            "a in (b)c",
                                                            "a notin",
                                                            "()",
                                                            "a===b",
                                                            "a=!b",
                                                            "a!b",
                                                            "a>",
                                                            "a>x",
                                                            "a<1.5",
                                                            "a><1",
                                                            "-a",
                                                            "a-",
                                                            "/a",
                                                            "a/",
                                                            "a/b/c",
                                                            "A.example/b",
                                                            "-x/b",
                                                            "x-/b",
                                                            "x..y/b",
                                                            ".x/b",
                                                            "x./b",
                                                            "a=-b",
                                                            "a=b/c",
                                                            "a=\"b\"",
                                                            "a=\xc3\xa4",
                                                            std::string("a\0b", 3),
                                                            long_name,
                                                            "x/" + long_name,
                                                            "a=" + long_name,
                                                            std::string(254, 'x') + "/a"}) {
        INFO(text);
        CHECK_THROWS_AS(LabelSelector::parse(text), ConfigError);
    }
}

TEST_CASE("LabelSelector: names and values at their greatest length are accepted") {
    const std::string name(63, 'a');
    CHECK(selects(name + "=" + name, {{name, name}}));
    CHECK_NOTHROW(LabelSelector::parse(std::string(253, 'x') + "/" + name));
}

TEST_CASE("LabelSelector: arbitrary text either parses or throws a ConfigError") {
    std::mt19937 random(7);
    const std::string_view alphabet = "ab=!(),<> \t/.-_in\\\xff";
    for (int round = 0; round < 20'000; ++round) {
        std::string text(random() % 24, ' ');
        for (char& c : text) c = alphabet[random() % alphabet.size()];
        try {
            const auto selector = LabelSelector::parse(text);
            CHECK(selector.requirements().size() <= text.size());
        } catch (const ConfigError&) {
        }
        try {
            FieldSelector::parse(text);
        } catch (const ConfigError&) {
        }
    }
}

TEST_CASE("LabelSelector: a very long text takes linear time") {
    std::string text = "a in (";
    for (int i = 0; i < 100'000; ++i) text += "x,";
    CHECK(LabelSelector::parse(text + ")").requirements()[0].values.size() == 2);
    CHECK_THROWS_AS(LabelSelector::parse(std::string(1'000'000, '(')), ConfigError);
    CHECK_THROWS_AS(LabelSelector::parse(std::string(1'000'000, '!')), ConfigError);
}

TEST_CASE("FieldSelector: equality and inequality select") {
    const Map fields{{"metadata.name", "web-1"}, {"status.phase", "Running"}};
    CHECK(selects_fields("", fields));
    CHECK(selects_fields("metadata.name=web-1", fields));
    CHECK(selects_fields("metadata.name==web-1,status.phase!=Failed", fields));
    CHECK_FALSE(selects_fields("metadata.name!=web-1", fields));
    CHECK_FALSE(selects_fields("status.phase=Failed", fields));
    CHECK(selects_fields(",,status.phase=Running,", fields));
}

TEST_CASE("FieldSelector: a field that is not there has the value ''") {
    CHECK(selects_fields("spec.nodeName=", {}));
    CHECK(selects_fields("spec.nodeName!=x", {}));
    CHECK_FALSE(selects_fields("spec.nodeName=x", {}));
}

TEST_CASE("FieldSelector: the path may be empty, as in fields.ParseSelector") {
    using Requirement = FieldSelector::Requirement;
    const auto only = [](const std::string& text) {
        return FieldSelector::parse(text).requirements().at(0);
    };
    CHECK(only("=b") == Requirement{"", "b", true});
    CHECK(only("==b") == Requirement{"", "b", true});
    CHECK(only("!=b") == Requirement{"", "b", false});
    CHECK(only("=") == Requirement{"", "", true});
    CHECK(only("==") == Requirement{"", "", true});
    CHECK_FALSE(selects_fields("=b", {{"a", "b"}}));
    CHECK(selects_fields("!=b", {{"a", "b"}}));
    CHECK(selects_fields("=", {{"a", "b"}}));
}

TEST_CASE("FieldSelector: backslash escapes the characters that mean something") {
    const auto selector = FieldSelector::parse(R"(a=x\,y\=z\\,b!=\\)");
    REQUIRE(selector.requirements().size() == 2);
    CHECK(selector.requirements()[0] == FieldSelector::Requirement{"a", R"(x,y=z\)", true});
    CHECK(selector.requirements()[1] == FieldSelector::Requirement{"b", "\\", false});
}

TEST_CASE("FieldSelector: what the API server rejects is rejected") {
    for (const std::string_view text :
         {"a", "a,b=c", R"(a=\)", R"(a=\n)", "a=b=c", "a===b", "===", "=b=c", R"(a=b\,c\)"}) {
        INFO(text);
        CHECK_THROWS_AS(FieldSelector::parse(text), ConfigError);
    }
}

TEST_CASE("FieldSelector: an error names the position") {
    CHECK_THROWS_WITH(FieldSelector::parse("a=b,nonsense"),
                      "field selector: cannot be parsed at character 5: 'nonsense' has no "
                      "operator; allowed are = == !=");
    CHECK_THROWS_WITH(FieldSelector::parse("ab=c=d"),
                      "field selector: cannot be parsed at character 5: '=' in a value must be "
                      "written '\\='");
}
