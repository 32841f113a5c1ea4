// Compares the targets of monitors that a host follows with those that Prometheus, if it is
// installed or in the folder $K8S_SD_PEERS, discovers with the printed configuration.
// $K8S_SD_DIFFERENTIAL_SEED changes the seed.

#include "differential/command.hpp"
#include "support/config_fixtures.hpp"
#include "support/random_monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace differential_monitor_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

namespace json = boost::json;

/// A random cluster whose server also listens, and a host that has followed all of its changes.
class Cluster {
 public:
    /// \param of_owner  more fields of the owners
    Cluster(std::uint64_t seed, const std::string& of_owner)
        : monitors_(seed, "-" + std::to_string(seed), of_owner), followed_(monitors_) {
        monitors_.server.listen();
    }

    /// Appends the printed jobs, for its server and without scrapes.
    void add_jobs(json::array& jobs) {
        const std::string text = monitors_.for_shard(json::serialize(monitors_.printed()));
        json::value printed = json::parse(text);
        for (json::value& job : printed.at("scrape_configs").as_array()) {
            json::object& keys = job.as_object();
            keys["scrape_interval"] = never;
            if (json::value* const configs = keys.if_contains("kubernetes_sd_configs")) {
                for (json::value& config : configs->as_array()) {
                    config.as_object()["api_server"] = monitors_.server.url();
                }
            }
            jobs.push_back(job);
        }
    }

    /// Adds the targets of the host, in the form of discover_with_prometheus.py.
    void add_targets(json::object& expected) const {
        for (const auto& [job, targets] : followed_.targets()) {
            expected[job] = json::array(targets.begin(), targets.end());
        }
    }

    /// Serves until the destruction of the result.
    std::jthread serving() {
        monitors_.context.restart();
        return std::jthread([this](const std::stop_token& stop) {
            const auto work = boost::asio::make_work_guard(monitors_.context);
            const std::stop_callback ends(stop, [this] { monitors_.context.stop(); });
            monitors_.context.run();
        });
    }

    static constexpr const char* never = "100y";

 private:
    RandomTargets monitors_;
    FollowedMonitors followed_;
};

json::value answer_of(const std::string& program, const json::object& config,
                      const json::object& expected) {
    const TemporaryDirectory folder;
    const std::string config_file = folder.write("config.yml", json::serialize(config));
    const std::string expected_file = folder.write("expected", json::serialize(expected));
    const std::string answer_file = folder.path("answer");
    const CommandOutput output =
        run_command("python3 " K8S_SD_DISCOVER_WITH_PROMETHEUS " " + program + " " + config_file +
                    " " + expected_file + " " + answer_file + " 2>&1");
    if (output.text.find("is built without kubernetes_sd") != std::string::npos) SKIP(output.text);
    INFO(output.text);
    REQUIRE(output.success);
    std::ifstream stream(answer_file);
    return json::parse(std::string(std::istreambuf_iterator<char>(stream), {}));
}

std::string version_of(const std::string& program) {
    const std::string text = run_command(program + " --version 2>&1").text;
    std::smatch found;
    INFO(text);
    REQUIRE(std::regex_search(text, found, std::regex(R"(version (\d+\.\d+\.\d+))")));
    return found[1];
}

}  // namespace

TEST_CASE("Targets of random monitors are those of Prometheus with the printed configuration") {
    const std::string program = find_program("prometheus");
    if (program.empty()) SKIP("there is no prometheus, neither installed nor in $K8S_SD_PEERS");
    // The operator prints what this version of Prometheus knows.
    const std::string of_owner = R"(, "version": "v)" + version_of(program) + "\"";
    const std::uint64_t first = setting("K8S_SD_DIFFERENTIAL_SEED", 1);
    std::vector<std::unique_ptr<Cluster>> clusters;
    json::array jobs;
    json::object expected;
    for (std::uint64_t seed = first; seed < first + 24; ++seed) {
        clusters.push_back(std::make_unique<Cluster>(seed, of_owner));
        clusters.back()->add_jobs(jobs);
        clusters.back()->add_targets(expected);
    }
    std::vector<std::jthread> servers;
    for (const auto& cluster : clusters) servers.push_back(cluster->serving());
    const json::object config{{"global", {{"scrape_interval", Cluster::never}}},
                              {"scrape_configs", jobs}};
    const json::value answer = answer_of(program, config, expected);
    servers.clear();

    REQUIRE(answer.as_object().size() == expected.size());
    std::size_t active = 0;
    std::size_t with_dropped = 0;
    for (const auto& [job, targets] : expected) {
        INFO("K8S_SD_DIFFERENTIAL_SEED=" << first << ": " << std::string(job));
        CHECK(json::serialize(answer.at(job)) == json::serialize(targets));
        active += targets.as_array().size() - 1;
        with_dropped += targets.at(0) != "0 dropped";
    }
    // The comparison must have covered something.
    CHECK(active > 40);
    CHECK(with_dropped > 20);
}

}  // namespace differential_monitor_tests
