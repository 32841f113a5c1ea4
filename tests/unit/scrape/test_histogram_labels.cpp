#include "k8s_sd/detail/scrape/go_bool.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "support/config_fixtures.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {
namespace {

using enum PrometheusVersion;

constexpr const char* convert = "__convert_classic_histograms_to_nhcb__";
constexpr const char* classic = "__always_scrape_classic_histograms__";
constexpr const char* native = "__scrape_native_histograms__";

ScrapeConfig histogram_job(PrometheusVersion version) {
    ScrapeConfig config;
    config.job_name = "job";
    config.prometheus_version = version;
    config.always_scrape_classic_histograms = true;
    return config;
}

ScrapeTargetPtr histogram_target(const ScrapeConfig& config, LabelMap labels = {}) {
    labels.emplace("__address__", "h:1");
    const BuiltTarget built = TargetBuilder(config).build(make_group("p", {labels}, {}), 0);
    REQUIRE(std::holds_alternative<ScrapeTargetPtr>(built));
    return std::get<ScrapeTargetPtr>(built);
}

std::string histogram_error(PrometheusVersion version, const char* label, const char* value) {
    const LabelMap labels{{"__address__", "h:1"}, {label, value}};
    TargetBuilder builder(histogram_job(version));
    const BuiltTarget built = builder.build(make_group("p", {labels}, {}), 0);
    const auto* error = std::get_if<TargetError>(&built);
    return error ? error->message : "";
}

TEST_CASE("Histogram labels: targets have them since 3.13, with the settings of the job") {
    for (const PrometheusVersion version : {v3_5, v3_12}) {
        const LabelMap labels = histogram_target(histogram_job(version))->labels().to_map();
        for (const char* name : {convert, classic, native}) CHECK_FALSE(labels.contains(name));
    }
    const LabelMap labels = histogram_target(histogram_job(v3_13))->labels().to_map();
    CHECK(labels.at(convert) == "false");
    CHECK(labels.at(classic) == "true");
    CHECK(labels.at(native) == "false");
}

TEST_CASE("Histogram labels: rules see them, and the target has what they set") {
    ScrapeConfig config = histogram_job(v3_13);
    config.relabel_configs = {
        {.source_labels = {classic}, .target_label = native},
        {.action = RelabelAction::labeldrop, .regex = classic},
    };
    const ScrapeTargetPtr target = histogram_target(config);
    CHECK(target->scrape_native_histograms());
    CHECK_FALSE(target->convert_classic_histograms_to_nhcb());
    CHECK(target->always_scrape_classic_histograms());  // without a label, as the job says
    CHECK(target->discovered_labels().at(native) == "false");

    config.prometheus_version = v3_12;
    CHECK_FALSE(histogram_target(config)->scrape_native_histograms());
}

TEST_CASE("Histogram labels: those of a discovered target count since 3.13") {
    const LabelMap labels{{convert, "T"}, {classic, "0"}};
    const auto settings = [&](PrometheusVersion version) {
        const ScrapeTargetPtr target = histogram_target(histogram_job(version), labels);
        return std::pair(target->convert_classic_histograms_to_nhcb(),
                         target->always_scrape_classic_histograms());
    };
    CHECK(settings(v3_12) == std::pair(false, true));
    CHECK(settings(v3_13) == std::pair(true, false));
}

TEST_CASE("Histogram labels: another value than a boolean fails the target since 3.13") {
    for (const char* name : {convert, classic, native}) {
        CHECK(histogram_error(v3_13, name, "maybe") ==
              std::string(name) + " must be true or false");
        CHECK(histogram_error(v3_12, name, "maybe").empty());
        CHECK(histogram_error(v3_13, name, "").empty());
    }
}

TEST_CASE("Histogram labels: booleans are read as in Go") {
    for (const char* yes : {"1", "t", "T", "TRUE", "true", "True"}) {
        CHECK(detail::parse_go_bool(yes) == true);
    }
    for (const char* no : {"0", "f", "F", "FALSE", "false", "False"}) {
        CHECK(detail::parse_go_bool(no) == false);
    }
    for (const char* other : {"", "yes", "on", "tRUE", "2", " true", "truE"}) {
        CHECK_FALSE(detail::parse_go_bool(other));
    }
}

TEST_CASE("Histogram labels: vmagent has neither them nor versions") {
    ScrapeConfig config = histogram_job(v3_5);
    config.dialect = LabelDialect::victoriametrics;
    CHECK_FALSE(histogram_target(config)->labels().to_map().contains(classic));
    config.prometheus_version = v3_13;
    CHECK(config_error([&] { validate(config); }) ==
          "prometheus_version: is not for the dialect victoriametrics, which has no versions here; "
          "leave it out");
}

TEST_CASE("Scrape configurations: the version is an option, for targets and discovery") {
    const std::string yaml =
        "scrape_configs:\n- job_name: a\n  kubernetes_sd_configs: [{role: pod}]\n";
    const ScrapeConfigFile file = parse_scrape_configs(yaml, {.prometheus_version = v3_14});
    REQUIRE(file.jobs.size() == 1);
    CHECK(file.jobs[0].scrape.prometheus_version == v3_14);
    CHECK(file.jobs[0].discovery.configs.at(0).prometheus_version == v3_14);
    const ScrapeConfigFile usual = parse_scrape_configs(yaml);
    CHECK(usual.jobs[0].scrape.prometheus_version == v3_5);
    CHECK(usual.jobs[0].discovery.configs.at(0).prometheus_version == v3_5);
}

TEST_CASE("Scrape configurations: vmagent's dialect has no versions") {
    const auto parse = [] {
        parse_scrape_configs("scrape_configs: []", {.dialect = LabelDialect::victoriametrics,
                                                    .prometheus_version = v3_14});
    };
    CHECK_THROWS_AS(parse(), ScrapeConfigError);
    CHECK(config_error(parse).find("prometheus_version: is not for the dialect") == 0);
}

}  // namespace
}  // namespace k8s_sd::test
