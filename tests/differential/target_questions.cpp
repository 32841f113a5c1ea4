#include "differential/target_questions.hpp"

namespace k8s_sd::test {

namespace json = boost::json;

json::object TargetQuestions::next() {
    json::array targets;
    const std::size_t count = 2 + below(4);
    for (std::size_t i = 0; i < count; ++i) targets.push_back(target(i));
    return {
        {"name", "j" + std::to_string(count_++)}, {"job", job()}, {"targets", std::move(targets)}};
}

json::object TargetQuestions::job() {
    json::object job{{"scrape_interval", one_of("1d", "2d", "1d12h", "26h")}};
    if (chance(40)) job["scrape_timeout"] = one_of("10s", "1m30s", "250ms", "1h");
    if (chance(30)) job["scheme"] = one_of("http", "https");
    if (chance(30)) job["metrics_path"] = path();
    if (chance(40)) {
        json::object params;
        for (std::size_t n = 1 + below(2); n > 0; --n) {
            json::array values;
            for (std::size_t i = below(3); i > 0; --i) values.push_back(json::string(value()));
            params[one_of("x", "m", "a b", "z")] = std::move(values);
        }
        job["params"] = std::move(params);
    }
    job["relabel_configs"] = rules();
    return job;
}

json::array TargetQuestions::rules() {
    json::array rules;
    for (std::size_t n = below(5); n > 0; --n) {
        json::object rule = chance(20)               ? odd_rule()
                            : chance(20)             ? steering_rule()
                            : vmagent_ && chance(35) ? vmagent_rule()
                                                     : to_json(RelabelGenerator::rule());
        if (vmagent_ && chance(12)) rule["if"] = selector();
        rules.push_back(std::move(rule));
    }
    return rules;
}

std::string TargetQuestions::odd_name() {
    return chance(70) ? label_name()
                      : one_of("a.b", "\xe6\xa8\x99", "__scheme__", "__metrics_path__",
                               "__scrape_timeout__", "__param_x", "__param_m", "__address__", "A",
                               "__meta_label_team", "team");
}

std::string TargetQuestions::odd_regex() {
    return chance(50) ? simple_regex()
                      : one_of(".*", "^.*$", "(?:.*)", "\\A.*\\z", "((.*))", "(", ")", "a)|(?:b",
                               "[", "*", "a**", "\\C", "(?i)FOO", "(?<n>a+)b?", "(?P<n>.)(?P<n>.)",
                               "\\bfoo", "a{2,1}", "^", "$", "^$", "x|", "|", "(?s).*", "(?-s:.*)",
                               "(.*)(.*)", "(?U)(a+)(.*)", "\\p{Greek}+", "a{1001}", "(a|ab)(c|)");
}

/// What people do not write, but the programs take or refuse.
json::object TargetQuestions::odd_rule() {
    json::object rule{{"action", one_of("replace", "keep", "drop", "labelmap", "labeldrop",
                                        "labelkeep", "hashmod", "lowercase", "uppercase",
                                        "keepequal", "dropequal", "Replace", "DROP")}};
    if (chance(70)) {
        json::array sources;
        for (std::size_t n = below(3); n > 0; --n) sources.push_back(json::string(odd_name()));
        if (chance(3)) sources.push_back("");
        // Prometheus distinguishes an empty list from none, and refuses it where it refuses a list.
        if (!sources.empty()) rule["source_labels"] = std::move(sources);
    }
    if (chance(60)) rule["regex"] = odd_regex();
    if (chance(70)) rule["target_label"] = chance(80) ? odd_name() : replacement();
    if (chance(50)) rule["replacement"] = chance(20) ? "" : replacement();
    if (chance(10)) rule["separator"] = one_of("", ",", "$1");
    if (rule["action"] == "hashmod" || chance(3)) rule["modulus"] = below(9);
    return rule;
}

/// A rule about how to scrape.
json::object TargetQuestions::steering_rule() {
    const auto set = [](const std::string& name, const std::string& value) {
        return json::object{{"target_label", name}, {"replacement", value}};
    };
    switch (below(9)) {
        case 0: return set("__scheme__", one_of("", "https", "http", "HTTPS", "ftp", "1x", "/A?B"));
        case 1: return set("__metrics_path__", chance(30) ? "" : path());
        case 2:
            return set("__scrape_interval__",
                       one_of("", "1d", "30h", "1d1h", "abc", "1w", "2h1d", "86400", "25H", "1e6",
                              "1y1w1d1h1m1s1ms", "90000.5s", vmagent_ ? "1D" : "300y"));
        case 3:
            return set("__scrape_timeout__",
                       one_of("", "5s", "1.5s", "2d", "20", "1S", "1e1", "5", "1m30", "500MS"));
        case 4: return set("__param_" + one_of("x", "m", "y"), value());
        case 5:
            return {{"action", "labeldrop"},
                    {"regex",
                     one_of("__param_.+", "__scrape_.+", "__.*__", "job", "__address__", ".*")}};
        case 6: return set("__address__", address(below(5)));
        case 7:
            return {{"action", "labelmap"},
                    {"regex", one_of("__meta_label_(.+)", "__meta_(.+)", "(.*)_(.*)", "_+(.+)",
                                     "(a|b)(.*)", "__(.*)__")},
                    {"replacement", one_of("$1", "${1}", "x", "${1}_", "a", "$2")}};
        default: return set(one_of("instance", "job"), value());
    }
}

std::string TargetQuestions::selector() {
    return one_of("{a=\"1\"}", "{a!=\"\"}", "{foo=~\"f.*|\"}", "{}", "foo",
                  "{a=\"a\" or b!~\"x.*\"}", "{job=~\"j.*\",a!=\"foo\"}", "{a\\.b=\"1\"}",
                  "{__address__=~\"h.*\"}", "{\"a\"=\"a\"}", "{a=~\"(\"}", "{a=1}", "{a=\"1\",}",
                  "x{job=\"j\"}", "{__name__=\"\"}", "{none=\"\"}", "{none!~\".+\"}",
                  "{a=~\".*\"}");
}

json::object TargetQuestions::vmagent_rule() {
    const auto some = [&](std::size_t most) {
        json::array names;
        for (std::size_t n = below(most + 1); n > 0; --n) names.push_back(json::string(odd_name()));
        return names;
    };
    switch (below(9)) {
        case 0:
        case 1: {
            json::object rule{{"action", one_of("replace_all", "Replace_all")},
                              {"source_labels", some(2)},
                              {"target_label", odd_name()}};
            if (chance(80)) rule["regex"] = chance(50) ? odd_regex() : regex(1);
            if (chance(80)) rule["replacement"] = replacement();
            return rule;
        }
        case 2:
        case 3: {
            json::object rule{{"action", one_of("labelmap_all", "Labelmap_all")},
                              {"replacement", one_of("-", "", "$0", "x$1", ".", "$1")}};
            rule["regex"] = one_of("_", "__meta_", "a", "o+", "(a)(.)", "^a", "[ab]", ".", "b$");
            return rule;
        }
        case 4:
            return {{"action", one_of("keep_if_equal", "drop_if_equal")},
                    {"source_labels", some(3)}};
        case 5:
            return {{"action", one_of("keep_if_contains", "drop_if_contains")},
                    {"source_labels", some(2)},
                    {"target_label", odd_name()}};
        case 6: return {{"action", one_of("keep_metrics", "drop_metrics")}, {"regex", odd_regex()}};
        case 7:
            return {{"source_labels", some(2)},
                    {"target_label", odd_name()},
                    {"replacement", one_of("{{a}}", "{{job}}-$1", "x{{none}}y", "{{a", "{{}}",
                                           "$1{{foo}}", "{{__address__}}")}};
        default: return {{"target_label", "team"}, {"replacement", "x"}};
    }
}

std::string TargetQuestions::path() {
    return chance(40) ? "/metrics" + std::to_string(below(3))
                      : one_of("metrics", "/a%20b", "/[x]", "*", "/x?y=z", "?y", "/\xc3\xbc",
                               "/%zz", "/a b", "/x#y", "//x", "/a:b@c", "/a;b,c", "/%41", "/(x)",
                               "/<>\"", "/#%z", "/a\\b", "/{x}|^`", "/~!$&'*+=-_.");
}

std::string TargetQuestions::address(std::size_t number) {
    const std::string n = std::to_string(number);
    if (chance(55)) return "h" + n + one_of(":80", ":9100", "", ":443");
    return one_of("[::" + n + "]:80", "[fd00::" + n + "]", "fd00::" + n, "h" + n + ":abc",
                  "h p" + n + ":1", "\xe6\xa8\x99" + n + ":80", "u:p@h" + n + ":80",
                  "h" + n + ":80:90", "http://h" + n + ":80/x", "https://h" + n,
                  "h" + n + "/path?q", "h%41" + n + ":80", "[::" + n, "[x" + n + "]:80",
                  "[fe80::" + n + "%25en0]:80", "h" + n + "?x", "h" + n + "#y", ":" + n,
                  "2001:db8::" + n + ":8080", "h%C3%BC" + n, "h" + n + ":", "h<" + n + ">",
                  "h\\" + n, "@h" + n, "a@b@h" + n, "ftp://h" + n, "h%25" + n, "us er@h" + n,
                  "[1.2.3." + n + "]:80");
}

json::object TargetQuestions::target(std::size_t number) {
    json::object labels{{"__address__", ""}};
    for (std::size_t n = below(7); n > 0; --n) labels[odd_name()] = value();
    std::string own_address = address(number);
    // Prometheus refuses a file with such a target.
    while (!vmagent_ && own_address.find('/') != std::string::npos) own_address = address(number);
    labels["__address__"] = own_address;
    if (chance(8)) labels["__scheme__"] = one_of("http", "https", "", "ftp");
    if (chance(8)) labels["__metrics_path__"] = chance(30) ? "" : path();
    if (chance(8)) labels["job"] = one_of("", "own");
    if (chance(5)) labels["instance"] = one_of("", "own");
    if (chance(8)) labels["__param_" + one_of("x", "q")] = value();
    if (chance(8)) labels["__meta_label_team"] = chance(50) ? "" : value();
    labels["__scrape_timeout__"] = "";
    if (chance(92)) labels.erase("__scrape_timeout__");
    return labels;
}

}  // namespace k8s_sd::test
