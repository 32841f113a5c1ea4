// Compares the configuration files accepted by this library, and the targets of their jobs, with
// those of Prometheus (promtool): recorded and random files. $K8S_SD_DIFFERENTIAL_FILES and
// $K8S_SD_DIFFERENTIAL_SEED change the number of random files and the seed.

#include "differential/command.hpp"
#include "differential/promtool.hpp"
#include "differential/scrape_config_generator.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "support/config_fixtures.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::test {

namespace {

/// The labels of targets after relabelling, as text, by job and address: of jobs without other
/// sources than `static_configs`.
using FileTargets = std::map<std::string, std::map<std::string, std::string>>;

struct FileReading {
    std::optional<FileTargets> targets{};  ///< nullopt: the file is refused
    std::string problem{};
};

std::string text_of_labels(const LabelMap& labels) {
    std::string text;
    for (const auto& [name, value] : labels) text += name + "=" + value + "\n";
    return text;
}

bool has_only_static_targets(const Job& job) {
    return !job.static_configs.empty() && job.configs.empty() && job.file_sd_configs.empty() &&
           job.http_sd_configs.empty();
}

std::map<std::string, std::string> targets_of(const ScrapeJob& job) {
    std::map<std::string, std::string> targets;
    TargetBuilder builder(job.scrape);
    for (const StaticConfig& list : job.discovery.static_configs) {
        for (const std::string& address : list.targets) {
            LabelMap labels(list.labels.begin(), list.labels.end());
            labels["__address__"] = address;
            targets[address] = text_of_labels(builder.explain(labels).labels.value_or(LabelMap()));
        }
    }
    return targets;
}

FileReading read_by_k8s_sd(const std::string& text) {
    FileReading reading;
    try {
        const ScrapeConfigFile file = parse_scrape_configs(text);
        for (const ScrapeConfigFailure& failure : file.failures) reading.problem = failure.message;
        for (const ConfigNote& note : file.notes) {
            // Prometheus refuses a key that it does not know.
            if (note.kind == ConfigNoteKind::unknown) reading.problem = note.text;
        }
        if (!reading.problem.empty()) return reading;
        reading.targets.emplace();
        for (const ScrapeJob& job : file.jobs) {
            if (!has_only_static_targets(job.discovery)) continue;
            (*reading.targets)[job.scrape.job_name] = targets_of(job);
        }
    } catch (const ScrapeConfigError& e) {
        reading.problem = e.what();
    }
    return reading;
}

/// \param ours  names the jobs with targets, and has their numbers
std::optional<FileTargets> read_by_promtool(const std::string& text, const FileReading& ours) {
    const TemporaryDirectory directory;
    const std::string file = directory.write("p.yml", text);
    if (!Promtool::accepts(file)) return std::nullopt;
    FileTargets targets;
    if (!ours.targets) return targets;
    for (const auto& [job, ours_of_job] : *ours.targets) {
        auto& of_job = targets[job];
        const auto results = Promtool::targets(file, job, ours_of_job.size());
        for (const boost::json::value& result : results.value()) {
            LabelMap labels;
            for (const auto& [name, value] : result.at("labels").as_object()) {
                labels.emplace(name, value.as_string());
            }
            const auto& address = result.at("discoveredLabels").at("__address__").as_string();
            of_job[std::string(address)] = text_of_labels(labels);
        }
    }
    return targets;
}

std::string text_of_jobs(const FileTargets& jobs) {
    std::string text;
    for (const auto& [job, targets] : jobs) {
        for (const auto& [address, labels] : targets) text += job + " " + address + "\n" + labels;
    }
    return text;
}

struct FileTally {
    std::size_t accepted = 0, refused = 0, targets = 0;
};

void compare_files(const std::vector<std::string>& files, FileTally& tally) {
    constexpr std::size_t processes = 4;
    for (std::size_t begin = 0; begin < files.size(); begin += processes) {
        const std::size_t end = std::min(begin + processes, files.size());
        std::vector<FileReading> ours;
        for (std::size_t i = begin; i < end; ++i) ours.push_back(read_by_k8s_sd(files[i]));
        std::vector<std::future<std::optional<FileTargets>>> theirs;
        for (std::size_t i = begin; i < end; ++i) {
            theirs.push_back(std::async(std::launch::async, [&files, &ours, i, begin] {
                return read_by_promtool(files[i], ours[i - begin]);
            }));
        }
        for (std::size_t i = begin; i < end; ++i) {
            INFO(files[i]);
            INFO("k8s_sd: " << ours[i - begin].problem);
            const std::optional<FileTargets> expected = theirs[i - begin].get();
            CHECK(ours[i - begin].targets.has_value() == expected.has_value());
            ++(expected ? tally.accepted : tally.refused);
            if (!expected || !ours[i - begin].targets) continue;
            CHECK(text_of_jobs(*ours[i - begin].targets) == text_of_jobs(*expected));
            for (const auto& [job, targets] : *expected) tally.targets += targets.size();
        }
    }
}

/// Keys that promtool may lack: discovery in Debian's program, and those of newer versions.
constexpr const char* newer_keys[] = {"kubernetes_sd_configs",      "consul_sd_configs",
                                      "scrape_protocols",           "keep_dropped_targets",
                                      "track_timestamps_staleness", "outdated_block_expiry",
                                      "fallback_scrape_protocol"};

void erase_newer_keys(boost::json::value& value) {
    if (boost::json::array* items = value.if_array()) {
        for (boost::json::value& item : *items) erase_newer_keys(item);
    } else if (boost::json::object* members = value.if_object()) {
        for (const char* key : newer_keys) members->erase(key);
        for (auto& member : *members) erase_newer_keys(member.value());
    }
}

/// The file as JSON without these keys; itself if it is no YAML.
std::string without_newer_keys(const std::string& text) {
    try {
        boost::json::value file = boost::json::parse(to_json(detail::YamlValue::parse(text, "f")));
        erase_newer_keys(file);
        return boost::json::serialize(file);
    } catch (const ConfigError&) {
        return text;
    }
}

std::string content_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    REQUIRE(stream);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

}  // namespace

TEST_CASE("Scrape configurations: Prometheus accepts the same recorded files") {
    if (!Promtool::is_installed()) SKIP(Promtool::missing);
    std::vector<std::string> files;
    for (const char* name : {"prometheus-documentation.yml", "prometheus-operator.yml"}) {
        files.push_back(without_newer_keys(
            content_of(std::filesystem::path(K8S_SD_TEST_DATA "/scrape_configs") / name)));
    }
    for (const auto& file :
         std::filesystem::directory_iterator(K8S_SD_TEST_DATA "/../fuzz/corpus/scrape_configs")) {
        // The first byte has the options of the fuzzer.
        files.push_back(without_newer_keys(content_of(file.path()).substr(1)));
    }
    FileTally tally;
    compare_files(files, tally);
    CHECK(tally.accepted > 1);
    CHECK(tally.refused > 1);
}

TEST_CASE(
    "Scrape configurations: Prometheus accepts the same random files and makes their targets") {
    if (!Promtool::is_installed()) SKIP(Promtool::missing);
    ScrapeConfigGenerator generator(setting("K8S_SD_DIFFERENTIAL_SEED", 1));
    std::vector<std::string> files(setting("K8S_SD_DIFFERENTIAL_FILES", rounds(120)));
    for (std::string& file : files) file = generator.file();
    FileTally tally;
    compare_files(files, tally);
    // The comparison must have covered something.
    CHECK(tally.accepted > files.size() / 4);
    CHECK(tally.refused > files.size() / 4);
    CHECK(tally.targets > files.size() / 4);
}

}  // namespace k8s_sd::test
