#include "conformance/corpus.hpp"

#include <boost/json/parse.hpp>
#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace k8s_sd::test {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

const fs::path& root() {
    static const fs::path path = fs::path(K8S_SD_TEST_DATA) / "conformance";
    return path;
}

std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> sorted_entries(const fs::path& directory) {
    std::vector<fs::path> paths;
    if (!fs::exists(directory)) return paths;
    for (const auto& entry : fs::directory_iterator(directory)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::string answer_file(LabelDialect dialect) { return std::string(to_string(dialect)) + ".json"; }

/// "pods" for "pods.watch.ndjson"; "" for others, such as watches with additional parameters.
std::string plain_watch(const fs::path& path) {
    const std::string name = path.filename().string();
    const std::string resource = name.substr(0, name.find('.'));
    return name == resource + ".watch.ndjson" ? resource : "";
}

std::uint64_t version_of(const json::value& event) {
    const json::object& metadata = event.at("object").at("metadata").as_object();
    const json::value* version = metadata.if_contains("resourceVersion");
    return version ? std::stoull(std::string(version->as_string())) : 0;
}

LabelMap without_empty(const json::object& labels) {
    LabelMap map;
    for (const auto& [name, value] : labels) {
        if (!value.as_string().empty()) map.emplace(name, value.as_string());
    }
    return map;
}

void read_unstable(const fs::path& directory, Answer& answer) {
    const fs::path path = directory / "prometheus.unstable.json";
    if (!fs::exists(path)) return;
    const json::value labels = json::parse(read_text(path));
    for (const auto& [name, values] : labels.as_object()) {
        for (const json::value& value : values.as_array()) {
            answer.unstable[name].emplace(value.as_string());
        }
    }
}

}  // namespace

std::vector<std::string> corpus_cases() {
    std::vector<std::string> names;
    for (const fs::path& path : sorted_entries(root())) {
        if (fs::is_directory(path)) names.push_back(path.filename().string());
    }
    return names;
}

CorpusCase read_case(const std::string& name) {
    CorpusCase result{name, {}, {root() / name}};
    for (const fs::path& path : sorted_entries(root() / name / "jobs")) {
        CorpusJob job{path.filename().string(), read_text(path / "sd_config.yaml"), {}};
        const fs::path own_namespace = path / "own_namespace";
        if (fs::exists(own_namespace)) job.own_namespace = read_text(own_namespace);
        result.jobs.push_back(std::move(job));
    }
    for (const fs::path& path : sorted_entries(root() / name / "steps"))
        result.states.push_back(path);
    return result;
}

std::vector<std::string> read_lists(const fs::path& state) {
    std::vector<std::string> lists;
    for (const fs::path& path : sorted_entries(state / "api")) lists.push_back(read_text(path));
    return lists;
}

std::vector<WatchLine> read_events(const fs::path& step) {
    std::vector<WatchLine> events;
    for (const fs::path& path : sorted_entries(step)) {
        const std::string resource = plain_watch(path);
        if (resource.empty()) continue;
        std::ifstream file(path, std::ios::binary);
        for (std::string line; std::getline(file, line);) {
            const std::uint64_t version = version_of(json::parse(line));
            events.push_back({resource, std::move(line), version});
        }
    }
    // All resources share one version counter; a bookmark has the version of the event before it.
    std::stable_sort(events.begin(), events.end(),
                     [](const WatchLine& a, const WatchLine& b) { return a.version < b.version; });
    return events;
}

std::optional<Answer> read_answer(const fs::path& state, const std::string& job,
                                  LabelDialect dialect) {
    const fs::path directory = state / "jobs" / job;
    if (!fs::exists(directory / answer_file(dialect))) return std::nullopt;
    Answer answer;
    const json::value targets = json::parse(read_text(directory / answer_file(dialect)));
    for (const json::value& target : targets.as_array()) {
        answer.targets.push_back(without_empty(target.as_object()));
    }
    if (dialect == LabelDialect::prometheus) read_unstable(directory, answer);
    return answer;
}

std::size_t count_answers(const std::string& case_name, LabelDialect dialect) {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root() / case_name)) {
        if (entry.path().filename() == answer_file(dialect)) ++count;
    }
    return count;
}

std::size_t count_jobs() {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root())) {
        if (entry.path().filename() == "sd_config.yaml") ++count;
    }
    return count;
}

}  // namespace k8s_sd::test
