#include "differential/generator.hpp"

#include <boost/json/array.hpp>

namespace k8s_sd::test {

std::string RelabelGenerator::label_name() {
    return one_of("a", "b", "c", "foo", "bar", "foo_bar", "__tmp", "__meta_x", "__meta_x_a",
                  "__meta_x_foo", "__meta_y_1", "__param_a", "job", "instance");
}

std::vector<std::string> RelabelGenerator::sources() {
    std::vector<std::string> names;
    for (std::size_t n = below(10) == 0 ? 0 : 1 + below(3); n > 0; --n) {
        names.push_back(chance(10) ? "__address__" : label_name());
    }
    return names;
}

std::string RelabelGenerator::value() {
    std::string text;
    for (std::size_t n = below(5); n > 0; --n) {
        text += one_of("a", "b", "ab", "foo", "bar", "Foo", "x", "1", "80", ":", ";", "/", "-", "_",
                       ".", " ", "$1", "${a}", "\\", "\"", "'", "a.b", "\xc3\xa9", "\xc3\x89",
                       "\xc3\x9f", "\xce\xa3", "\xc4\xb0", "\xc7\x86", "\xe2\x82\xac",
                       "\xf0\x9f\x98\x80", "<", "&", "%", "#", "\t");
    }
    return text;
}

LabelMap RelabelGenerator::labels(std::size_t number) {
    LabelMap labels{{"__address__", "h" + std::to_string(number) + ":" + one_of("80", "9100")}};
    for (std::size_t n = below(8); n > 0; --n) {
        const std::string name = label_name();
        const std::string text = value();
        if (!text.empty()) labels[name] = text;
    }
    return labels;
}

std::string RelabelGenerator::simple_regex() {
    return one_of("(.*)", "(.+)", ".+", ".*", "", "a", "foo", "foo|bar", "(foo|bar|a)", "(?:a|b)",
                  "foo(.*)", "a(.+)", "fo.*", "^foo$", "a|", "h0:80", "h(.*)", "a\\.b", "(a.*)",
                  "1;(.*)", "x:80", "b\\-(.+)", "foo;bar", ".*;.*");
}

std::string RelabelGenerator::quantifier() {
    return one_of("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?", "{2,}");
}

std::string RelabelGenerator::regex_piece(int depth) {
    switch (below(depth > 0 ? 12 : 7)) {
        case 0: return ".";
        case 1: return one_of("[ab]", "[^a]", "[a-f0-9]", "[[:alpha:]]", "[^:;]", "[]a]", "[\\w.]");
        case 2:
            return one_of("\\d", "\\w", "\\s", "\\W", "\\pL", "\\PL", "\\p{Greek}", "[\\p{Lu}]");
        case 3: return one_of("\\.", "\\$", "\\|", "\\Qa.b\\E", "\\x61", "\\x{e9}", "\\-", "\\/");
        case 4:
        case 5:
        case 6: return one_of("a", "b", "o", "1", "f", ":", ";", "-", "\xc3\xa9", "_", " ");
        case 7:
        case 8: return "(" + regex(depth - 1) + ")";
        case 9: return "(?:" + regex(depth - 1) + ")";
        case 10: return "(?P<" + one_of("n", "m", "x1") + ">" + regex(depth - 1) + ")";
        default: return "(?" + one_of("i", "s", "U", "i-s", "-s") + ":" + regex(depth - 1) + ")";
    }
}

std::string RelabelGenerator::regex(int depth) {
    std::string text;
    if (chance(4)) text += one_of("^", "\\A", "(?i)", "(?U)", "\\b");
    for (std::size_t n = 1 + below(4); n > 0; --n) {
        text += chance(25) ? one_of("(.*)", "(.+)", ".*", "(.*?)", "([^;]*)") : regex_piece(depth);
        // A second one would be an error. After \Q..\E it applies to the last character.
        if (chance(30) && !text.ends_with('*') && !text.ends_with('+')) text += quantifier();
        if (chance(10)) text += "|";
    }
    if (chance(4)) text += one_of("$", "\\z", "\\b", "\\B");
    // Breaks out of the anchors.
    if (depth == 2 && chance(3)) text += one_of(")|(?:", ")(?:") + regex(0);
    return text;
}

std::string RelabelGenerator::replacement() {
    std::string text;
    for (std::size_t n = below(4); n > 0; --n) {
        text +=
            one_of("$1", "${1}", "$2", "${2}", "$0", "${3}", "$n", "${n}", "${m}", "$x1", "${x1}",
                   "$$", "$", "${", "${}", "$-", "x", "-", "_", "foo", "${1", "$01", "$1x", "{",
                   "}", "\xc3\xa9", "$\xc3\xa9", "${12345678901}", "$1_$2", "{{a}}", " ");
    }
    return text;
}

RelabelRule RelabelGenerator::replace_rule() {
    RelabelRule rule{.source_labels = sources(), .target_label = label_name()};
    if (chance(30)) rule.separator = one_of("", ",", ";;", "$1", " ");
    if (chance(80)) rule.regex = chance(35) ? simple_regex() : regex(2);
    if (chance(80)) rule.replacement = chance(30) ? "$1" : replacement();
    if (chance(25)) {
        rule.target_label =
            one_of("${1}", "$1", "x_${1}", "${1}_x", "$n", "t_$2", "_${1}_${2}", "$0");
        rule.replacement.insert(0, "r");
    }
    return rule;
}

RelabelRule RelabelGenerator::labelmap_rule() {
    // Each one is injective, so that no two labels get the same name.
    switch (below(7)) {
        case 0:
            return {
                .action = RelabelAction::labelmap, .regex = "__meta_x_(.+)", .replacement = "m_$1"};
        case 1:
            return {.action = RelabelAction::labelmap,
                    .regex = "(foo|bar)(.*)",
                    .replacement = "m_${1}_$2"};
        case 2:
            return {.action = RelabelAction::labelmap, .regex = regex(1), .replacement = "m_$0"};
        case 3: return {.action = RelabelAction::labelmap, .regex = "foo", .replacement = "m_foo"};
        case 4:
            return {.action = RelabelAction::labelmap,
                    .regex = "__meta_([a-z]+)_(.*)",
                    .replacement = "l${2}_in_${1}"};
        case 5:
            return {.action = RelabelAction::labelmap,
                    .regex = "__meta_(?P<n>x_.*)",
                    .replacement = "${n}"};
        default:
            return {.action = RelabelAction::labelmap,
                    .regex = "(__param_)(.*)",
                    .replacement = "${1}z_$2"};
    }
}

RelabelRule RelabelGenerator::names_rule(RelabelAction action) {
    RelabelRule rule{.action = action};
    rule.regex = chance(50) ? one_of("a", "foo.*", "__meta_.+", "a|b|c", "(foo|bar)", ".*_x_.*",
                                     "[abc]", "__tmp", "x_.*|m_.*", "__meta_x(_.*)?")
                            : regex(1);
    // Otherwise nearly every target would lose its address.
    if (action == RelabelAction::labelkeep && chance(95)) rule.regex += "|__.*|job|h.*";
    return rule;
}

RelabelRule RelabelGenerator::compare_rule(RelabelAction action) {
    RelabelRule rule{
        .action = action, .source_labels = {label_name()}, .target_label = label_name()};
    if (action == RelabelAction::hashmod) {
        rule.source_labels = sources();
        rule.modulus = below(3) == 0 ? random_() | 1 : 1 + below(16);
        if (chance(30)) rule.separator = one_of("", "/", "$1");
    }
    return rule;
}

RelabelRule RelabelGenerator::rule() {
    using Action = RelabelAction;
    switch (below(20)) {
        case 0: return {.action = Action::keep, .source_labels = sources(), .regex = "(.|..+)?"};
        case 1:
            return {
                .action = Action::drop, .source_labels = sources(), .regex = simple_regex() + "_"};
        case 2:
            return {.action = Action::drop, .source_labels = sources(), .regex = "x" + regex(2)};
        case 3:
            return {
                .action = Action::keep, .source_labels = sources(), .regex = regex(2) + "|.*[^x]|"};
        case 4: return compare_rule(chance(30) ? Action::keepequal : Action::dropequal);
        case 5:
        case 6: return compare_rule(Action::hashmod);
        case 7: return compare_rule(Action::lowercase);
        case 8: return compare_rule(Action::uppercase);
        case 9:
        case 10: return labelmap_rule();
        case 11: return names_rule(Action::labeldrop);
        case 12: return names_rule(Action::labelkeep);
        default: return replace_rule();
    }
}

std::vector<RelabelRule> RelabelGenerator::rules() {
    std::vector<RelabelRule> rules;
    for (std::size_t n = 1 + below(8); n > 0; --n) rules.push_back(rule());
    return rules;
}

boost::json::object to_json(const RelabelRule& rule) {
    static const RelabelRule defaults;
    boost::json::object object{{"action", std::string(to_string(rule.action))}};
    if (!rule.source_labels.empty()) {
        object["source_labels"] =
            boost::json::array(rule.source_labels.begin(), rule.source_labels.end());
    }
    if (rule.separator != defaults.separator) object["separator"] = rule.separator;
    if (rule.regex != defaults.regex) object["regex"] = rule.regex;
    if (rule.target_label != defaults.target_label) object["target_label"] = rule.target_label;
    if (rule.replacement != defaults.replacement) object["replacement"] = rule.replacement;
    if (rule.modulus != defaults.modulus) object["modulus"] = rule.modulus;
    return object;
}

}  // namespace k8s_sd::test
