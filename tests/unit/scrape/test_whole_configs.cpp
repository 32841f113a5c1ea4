#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace k8s_sd;
namespace json = boost::json;

namespace {

const std::string folder = K8S_SD_TEST_DATA "/scrape_configs/";

json::object expectations(const std::string& name) {
    std::ifstream file(folder + name + ".json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return json::parse(text).as_object();
}

LabelMap labels_of(const json::value& object) {
    LabelMap labels;
    for (const auto& [name, value] : object.as_object()) {
        labels.emplace(std::string(name), std::string(value.as_string()));
    }
    return labels;
}

ScrapeConfigOptions options_of(const json::object& expected) {
    ScrapeConfigOptions options;
    if (expected.at("dialect") == "victoriametrics") {
        options.dialect = LabelDialect::victoriametrics;
    }
    options.variables = [&expected](std::string_view name) -> std::optional<std::string> {
        const auto* variables = expected.if_contains("variables");
        const auto* value = variables ? variables->as_object().if_contains(name) : nullptr;
        return value ? std::optional(std::string(value->as_string())) : std::nullopt;
    };
    return options;
}

void check_target(TargetBuilder& builder, const json::object& expected) {
    const LabelMap discovered = labels_of(expected.at("discovered"));
    const BuiltTarget built = builder.build(test::make_group("p", {discovered}), 0);
    if (expected.at("url").is_null()) {
        const auto* dropped = std::get_if<DropReason>(&built);
        CHECK((dropped && *dropped == DropReason::relabelling));
        return;
    }
    REQUIRE(std::holds_alternative<ScrapeTargetPtr>(built));
    const ScrapeTargetPtr& target = std::get<ScrapeTargetPtr>(built);
    CHECK(target->url() == expected.at("url").as_string());
    CHECK(target->public_labels() == labels_of(expected.at("labels")));
}

}  // namespace

TEST_CASE("Whole configurations: operators' and the documentation's give the programs' targets") {
    const std::string name = GENERATE("prometheus-operator", "vm-operator",
                                      "prometheus-documentation", "vmagent-documentation");
    INFO(name);
    const json::object expected = expectations(name);
    const ScrapeConfigFile file = load_scrape_configs(folder + name + ".yml", options_of(expected));
    for (const ScrapeConfigFailure& failure : file.failures) {
        UNSCOPED_INFO(failure.where << ": " << failure.message);
    }
    CHECK(file.failures.size() == expected.at("failures").to_number<std::size_t>());
    for (const ConfigNote& note : file.notes) CHECK(note.kind != ConfigNoteKind::unknown);
    json::array settings;
    for (const auto& [key, value] : file.settings) settings.emplace_back(key);
    CHECK(json::value(settings) == expected.at("settings"));
    const json::object& jobs = expected.at("jobs").as_object();
    REQUIRE(file.jobs.size() == jobs.size());
    for (const ScrapeJob& job : file.jobs) {
        INFO(job.scrape.job_name);
        TargetBuilder builder(job.scrape);
        for (const json::value& target : jobs.at(job.scrape.job_name).as_array()) {
            check_target(builder, target.as_object());
        }
    }
}

TEST_CASE("Whole configurations: what the VM operator writes reaches the host") {
    const json::object expected = expectations("vm-operator");
    const ScrapeConfigFile file =
        load_scrape_configs(folder + "vm-operator.yml", options_of(expected));
    REQUIRE(file.jobs.size() == 4);
    const ScrapeJob& pods = file.jobs[1];
    CHECK(pods.discovery.configs.at(0).selectors.at(0).field == "spec.nodeName=node-1");
    CHECK(file.jobs[0].settings.at("max_scrape_size").json == "\"16MiB\"");
    CHECK(file.jobs[2].client->tls.insecure_skip_verify);
    CHECK(file.jobs[2].scrape.scrape_timeout == std::chrono::seconds(30));
    CHECK(file.jobs[3].client->proxy.url == "http://proxy.example.com:3128");
    CHECK(file.failures.at(0).job == "podScrape/shop/broken");
}
