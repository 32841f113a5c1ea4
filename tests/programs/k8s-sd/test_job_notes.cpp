#include "jobs/job_notes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using k8s_sd_program::notes_of;
using k8s_sd_program::without_share_rules;

namespace {

k8s_sd::ScrapeConfigFile file_with(const std::string& lines) {
    return k8s_sd::parse_scrape_configs("scrape_configs:\n- job_name: web\n" + lines);
}

}  // namespace

TEST_CASE("without_share_rules: the operator's rule goes, in both of its forms, the others stay") {
    auto file = file_with(R"(
  relabel_configs:
  - {source_labels: [__address__], target_label: __tmp_hash, modulus: 3, action: hashmod}
  - {source_labels: [__tmp_hash], regex: $(SHARD), action: keep}
  - {source_labels: [__tmp_hash, __tmp_disable_sharding], regex: "$(SHARD);|.+;.+", action: keep}
  - {source_labels: [__address__], regex: "x.*", action: keep}
)");
    const auto rules = without_share_rules(file.jobs.at(0).scrape).relabel_configs;
    REQUIRE(rules.size() == 2);
    CHECK(rules[0].action == k8s_sd::RelabelAction::hashmod);
    CHECK(rules[1].regex == "x.*");
    CHECK(notes_of(file).at(0).find("job web: lists leave out the rule keep $(SHARD)") == 0);
}

TEST_CASE("notes_of: what is left to agents is one line for each job") {
    CHECK(notes_of(file_with("  metrics_path: /m\n")).empty());
    CHECK(notes_of(file_with(R"(
  honor_labels: true
  authorization: {credentials_file: token}
  tls_config: {insecure_skip_verify: true}
  params: {module: [a, b]}
  metric_relabel_configs: [{regex: x, action: labeldrop}]
)")) == std::vector<std::string>{"job web: left to its agents, no list has it: authorization, "
                                 "honor_labels, metric_relabel_configs, params, tls_config"});
}

TEST_CASE("notes_of: a label that no legacy reader takes is reported") {
    const std::string rule = "  relabel_configs: [{target_label: a.b, replacement: x}]\n";
    CHECK(notes_of(file_with(rule)).empty());
    const auto notes = notes_of(file_with("  metric_name_validation_scheme: legacy\n" + rule));
    REQUIRE_FALSE(notes.empty());
    CHECK(notes.back() == "job web: with metric_name_validation_scheme: legacy lists leave out the "
                          "label a.b");
}

TEST_CASE("notes_of: a label that agents fill in again is reported if a rule removes it") {
    const auto notes_with = [](const std::string& rule, k8s_sd::LabelDialect dialect = {}) {
        return notes_of(k8s_sd::parse_scrape_configs(
            "scrape_configs:\n- job_name: web\n  relabel_configs: [" + rule + "]\n",
            {.dialect = dialect}));
    };
    const auto note = [](const std::string& label) {
        return "job web: a rule removes " + label +
               ", and agents of a relabelled list fill it in again from their job";
    };
    using Notes = std::vector<std::string>;
    CHECK(notes_with("{action: labeldrop, regex: job}") == Notes{note("job")});
    CHECK(notes_with("{action: labeldrop, regex: 'job|__.*'}") ==
          Notes{note("__metrics_path__, __scheme__, job")});
    CHECK(notes_with("{action: labelkeep, regex: '__.*|app'}") == Notes{note("job")});
    CHECK(notes_with("{target_label: __scheme__, replacement: ''}") == Notes{note("__scheme__")});
    for (const std::string other :
         {"{action: labeldrop, regex: jo}", "{target_label: job, replacement: x}",
          "{source_labels: [__meta_x], target_label: job}", "{target_label: x, replacement: ''}"}) {
        CAPTURE(other);
        CHECK(notes_with(other).empty());
    }
    CHECK(notes_with("{action: labeldrop, regex: job}", k8s_sd::LabelDialect::victoriametrics)
              .empty());
}
