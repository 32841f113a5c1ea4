#include "conformance/monitor_cases.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/scrape/scrape_job_reader.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/monitors/monitor_configuration.hpp"
#include "monitors/recorded.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

/// Every case of a group has the recorded configuration, and refuses the recorded objects.
void check_group(const std::string& group, std::size_t count) {
    std::size_t checked = 0;
    for (const std::string& line : monitor_cases(group)) {
        const json::object recorded = json::parse(line).as_object();
        INFO(std::string(recorded.at("name").as_string()));
        CHECK(monitor_differences(recorded, monitors::play_recorded(line)) == "");
        ++checked;
    }
    CHECK(checked == count);
}

}  // namespace

TEST_CASE("Monitors: the recorded owners have the recorded configurations") {
    check_group("owner", 56);
}
TEST_CASE("Monitors: the recorded PodMonitors have the recorded configurations") {
    check_group("podmonitor", 89);
}
TEST_CASE("Monitors: the recorded Probes have the recorded configurations") {
    check_group("probe", 37);
}
TEST_CASE("Monitors: the recorded random clusters have the recorded configurations") {
    check_group("random", 142);
}
TEST_CASE("Monitors: the recorded faults are refused, and nothing else is") {
    check_group("refused", 94);
}
TEST_CASE("Monitors: the recorded scrape classes have the recorded configurations") {
    check_group("scrapeclass", 20);
}
TEST_CASE("Monitors: the recorded ScrapeConfigs have the recorded configurations") {
    check_group("scrapeconfig", 66);
}
TEST_CASE("Monitors: the recorded selectors select the recorded objects") {
    check_group("selection", 8);
}
TEST_CASE("Monitors: the recorded ServiceMonitors have the recorded configurations") {
    check_group("servicemonitor", 89);
}

TEST_CASE("Monitors: the comparison of recorded cases finds each difference") {
    const std::string line = monitor_cases("selection").front();
    const json::object recorded = json::parse(line).as_object();
    json::object generated = monitors::play_recorded(line);
    REQUIRE(monitor_differences(recorded, generated) == "");
    SECTION("another value") {
        generated["config"].as_object()["global"].as_object()["scrape_interval"] = "31s";
        CHECK(monitor_differences(recorded, generated) ==
              "config.global.scrape_interval: recorded \"30s\", generated \"31s\"\n");
    }
    SECTION("an additional key") {
        generated["config"].as_object()["global"].as_object()["sample_limit"] = 1;
        CHECK(monitor_differences(recorded, generated) ==
              "config.global.sample_limit: recorded (absent), generated 1\n");
    }
    SECTION("a missing job") {
        generated["config"].as_object()["scrape_configs"].as_array().pop_back();
        CHECK(monitor_differences(recorded, generated) != "");
    }
    SECTION("an error") {
        generated["error"] = "no";
        CHECK(monitor_differences(recorded, generated) != "");
    }
}

TEST_CASE("Monitors: printed YAML reads as the same configuration") {
    for (const std::string group : {"servicemonitor", "scrapeconfig", "random"}) {
        for (const std::string& line : monitor_cases(group)) {
            const json::object made = monitors::play_recorded(line);
            const json::value* config = made.if_contains("config");
            if (config == nullptr) continue;
            INFO(std::string(made.at("name").as_string()));
            const auto yaml = detail::YamlValue::parse(to_yaml(*config), "printed");
            const std::string text = detail::to_json(
                yaml, {.max_values = 1'000'000, .max_bytes = std::size_t{64} << 20});
            const json::value read = json::parse(text);
            CHECK(read == json::parse(json::serialize(*config)));
        }
    }
}

TEST_CASE("Monitors: jobs read one after the other are those of a file") {
    for (const std::string group : {"servicemonitor", "podmonitor", "probe", "random"}) {
        for (const std::string& line : monitor_cases(group)) {
            const json::object made = monitors::play_recorded(line);
            const json::value* config = made.if_contains("config");
            if (config == nullptr) continue;
            INFO(std::string(made.at("name").as_string()));
            const ScrapeConfigFile file = parse_scrape_configs(to_yaml(*config));
            if (!file.failures.empty()) continue;
            detail::ScrapeJobReader reader(config->at("global").as_object(), {});
            // Of the second time all parts are known.
            for (int time = 0; time < 2; ++time) {
                std::size_t i = 0;
                for (const json::value& entry : config->at("scrape_configs").as_array()) {
                    CHECK(reader.read({.keys = entry.as_object()}) == file.jobs.at(i++));
                }
            }
        }
    }
}

TEST_CASE("Monitors: jobs read one after the other have the mistakes of a file") {
    const auto problem_of = [](const auto& read) -> std::string {
        try {
            read();
        } catch (const ConfigError& e) {
            return e.problem();
        }
        return "none";
    };
    const std::string sound = R"({"action": "keep", "source_labels": ["a"], "regex": "b"})";
    const std::string wrong = R"({"action": "keep", "source_labels": ["a"], "regex": "(b"})";
    const std::string huge = R"({"action": "keep", "source_labels": ["a"], "regex": "(b.){900}"})";
    detail::ScrapeJobReader reader(json::object(), {});
    for (const std::string& rules :
         {sound, sound + "," + wrong, wrong, huge, sound, std::string("null"), sound}) {
        const std::string text = R"({"job_name": "a", "relabel_configs": [)" + rules + "]}";
        INFO(text);
        const json::object entry = json::parse(text).as_object();
        CHECK(problem_of([&] { reader.read({.keys = entry}); }) == problem_of([&] {
                  const ScrapeConfigFile file =
                      parse_scrape_configs(R"({"scrape_configs": [)" + text + "]}");
                  if (!file.failures.empty()) throw ScrapeConfigError(file.failures);
              }));
    }
}

}  // namespace k8s_sd::test
