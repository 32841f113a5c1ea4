#include "k8s_sd/detail/config/yaml/json_document.hpp"
#include "k8s_sd/detail/relabel/relabel_rule_reader.hpp"
#include "k8s_sd/detail/scrape/known_parts.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <optional>
#include <string>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

json::object keys_of(const std::string& text) { return json::parse(text).as_object(); }

ScrapeJob job_with_path(const std::string& path) {
    return {.scrape = {.job_name = "a", .metrics_path = path}, .discovery = {.name = "a"}};
}

/// As it is read from a configuration; nullopt for a mistake.
std::optional<RelabelRule> read_as_yaml(const json::value& rule) {
    detail::Mistakes mistakes;
    const json::array list{rule};
    const RelabelRules rules =
        detail::RelabelRuleReader().read(detail::yaml_of(list, "rules"), {}, mistakes);
    return mistakes.none() ? std::optional(rules.front()) : std::nullopt;
}

}  // namespace

TEST_CASE("Known parts: parts in use stay, others are dropped") {
    detail::RecentParts<std::string> parts(2);
    const auto find = [&](std::size_t hash) {
        return parts.find(hash, [](const std::string&) { return true; }) != nullptr;
    };
    parts.add(1, "often");
    for (std::size_t hash = 2; hash < 20; ++hash) {
        parts.add(hash, "once");
        CHECK(find(1));
    }
    CHECK_FALSE(find(2));
    CHECK(parts.find(1, [](const std::string&) { return false; }) == nullptr);
}

TEST_CASE("Known parts: a job is known by its settings, whatever its name, rules and client") {
    detail::KnownParts parts;
    const std::string settings = R"("metrics_path": "/x", "scrape_interval": "5s")";
    parts.add(keys_of("{" + settings + "}"), job_with_path("/x"));
    const ScrapeJob* known =
        parts.job(keys_of(R"({"job_name": "b", "tls_config": {}, )" + settings +
                          R"(, "bearer_token": "t", "params": {}, "relabel_configs": null})"));
    REQUIRE(known != nullptr);
    CHECK(known->scrape.metrics_path == "/x");
    CHECK(known->scrape.job_name.empty());
    CHECK(known->discovery.name.empty());
    for (const char* other :
         {R"({"metrics_path": "/x"})", R"({"metrics_path": "/x", "scrape_interval": "6s"})",
          R"({"metrics_path": "/x", "scrape_interval": "5s", "sample_limit": 1})", "{}"}) {
        INFO(other);
        CHECK(parts.job(keys_of(other)) == nullptr);
    }
}

TEST_CASE("Known parts: nothing that may be secret is kept") {
    for (const char* keys :
         {R"({"basic_auth": {"username": "u", "password": "p"}})", R"({"bearer_token": "t"})",
          R"({"params": {"token": ["t"]}})", R"({"tls_config": {}})",
          R"({"proxy_url": "http://u:p@x"})", R"({"static_configs": []})",
          R"({"kubernetes_sd_configs": [{"role": "pod", "bearer_token": "t"}]})"}) {
        INFO(keys);
        detail::KnownParts parts;
        parts.add(keys_of(keys), job_with_path("/x"));
        CHECK(parts.job(keys_of(keys)) == nullptr);
        CHECK(parts.job({}) == nullptr);
    }
    CHECK(
        detail::common_settings(keys_of(R"({"job_name": "a", "scheme": "https", "bearer_token": "t",
                          "tls_config": {}, "params": {"a": ["b"]}, "enable_http2": false})")) ==
        keys_of(R"({"scheme": "https", "enable_http2": false})"));
    detail::KnownParts parts;
    const json::object plain = keys_of(R"({"kubernetes_sd_configs": [{"role": "pod"}]})");
    parts.add(plain, job_with_path("/x"));
    CHECK(parts.job(plain) != nullptr);
}

TEST_CASE("Known parts: generated rules are read as those of a file") {
    for (const char* text :
         {"{}", R"({"action": "keep", "source_labels": ["a", "b"], "regex": "(x);true"})",
          R"({"action": "HashMod", "source_labels": ["a"], "target_label": "t", "modulus": 3})",
          R"({"separator": "", "target_label": "t", "replacement": ""})",
          R"({"action": "lowercase", "source_labels": ["a"], "target_label": "t"})"}) {
        INFO(text);
        const json::value rule = json::parse(text);
        REQUIRE(detail::plain_rule(rule));
        if (const auto expected = read_as_yaml(rule)) CHECK(detail::plain_rule(rule) == expected);
    }
    for (const char* text :
         {"[]", "null", R"({"action": ""})", R"({"action": "kep"})", R"({"regex": 1})",
          R"({"regex": ["a"]})", R"({"modulus": -1})", R"({"modulus": 1.5})", R"({"modulus": "1"})",
          R"({"source_labels": "a"})", R"({"source_labels": [1]})", R"({"if": "{}"})",
          R"({"target_label": null})", R"({"unknown": ""})",
          R"({"action": "keepequal", "target_label": "t", "regex": "x"})"}) {
        INFO(text);
        CHECK_FALSE(detail::plain_rule(json::parse(text)));
    }
}

}  // namespace k8s_sd::test
