#include "sim/api_server_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

/// Compares the simulated server with recordings of a real one: it receives the state before a step
/// and the changes, and must stream the real server's events for every recorded request.

using namespace k8s_sd::test;
namespace fs = std::filesystem;

namespace {

std::string slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> sorted_entries(const fs::path& directory) {
    std::vector<fs::path> result;
    for (const auto& entry : fs::directory_iterator(directory)) result.push_back(entry.path());
    std::sort(result.begin(), result.end());
    return result;
}

/// The events of a stream. Periodic bookmarks depend on time and are dropped; the one that ends the
/// initial events stays.
std::vector<json::value> events(const std::string& stream) {
    std::vector<json::value> result;
    for (std::size_t i = 0; i < stream.size();) {
        const std::size_t end = std::min(stream.find('\n', i), stream.size());
        json::value event = json::parse(stream.substr(i, end - i));
        const bool initial_end =
            stream.substr(i, end - i).find("initial-events-end") != stream.npos;
        if (event.at("type") != "BOOKMARK" || initial_end) result.push_back(std::move(event));
        i = end + 1;
    }
    return result;
}

std::string query_of(const json::object& request) {
    std::string query;
    for (const auto& [name, value] : request.at("query").as_object()) {
        std::string text(value.as_string());
        for (std::size_t i = text.find('='); i != text.npos; i = text.find('=', i)) {
            text.replace(i, 1, "%3D");
        }
        query += (query.empty() ? "?" : "&") + std::string(name) + "=" + text;
    }
    return query;
}

std::string resource_of(const std::string& file) { return file.substr(0, file.find('.')); }

struct Change {
    std::uint64_t version = 0;
    std::string resource;
    std::string event;
};

/// The changes during a step, from the streams without selectors, in the order of versions.
std::vector<Change> changes_of(const fs::path& step, const json::object& requests) {
    std::vector<Change> result;
    for (const auto& [file, request] : requests) {
        const std::string resource = resource_of(file);
        if (std::string_view(file) != resource + ".watch.ndjson") continue;
        for (const json::value& event : events(slurp(step / std::string(file)))) {
            if (event.at("type") == "BOOKMARK") continue;
            const json::value& version = event.at_pointer("/object/metadata/resourceVersion");
            result.push_back(
                {std::stoull(std::string(version.as_string())), resource, json::serialize(event)});
        }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const Change& a, const Change& b) { return a.version < b.version; });
    return result;
}

void check_step(const fs::path& before, const fs::path& step) {
    INFO(step.string());
    Fixture f;
    for (const fs::path& list : sorted_entries(before / "api")) f.server.load(slurp(list));
    const json::object requests = json::parse(slurp(step / "requests.json")).as_object();
    std::vector<std::pair<std::string, std::unique_ptr<RawClient>>> watches;
    for (const auto& [file, request] : requests) {
        if (!std::string_view(file).ends_with(".ndjson")) continue;
        watches.emplace_back(file, std::make_unique<RawClient>(f.context, f.server.connector()));
        watches.back().second->get(std::string(request.at("path").as_string()) +
                                   query_of(request.as_object()));
    }
    for (const Change& c : changes_of(step, requests)) f.server.replay(c.resource, c.event);
    f.settle();
    for (const auto& [file, client] : watches) {
        INFO(file);
        CHECK(events(client->body()) == events(slurp(step / file)));
    }
    for (const fs::path& list : sorted_entries(step / "api")) {
        const json::object recorded = json::parse(slurp(list)).as_object();
        const std::string watch = list.stem().string() + ".watch.ndjson";
        auto client = f.client();
        client.get(std::string(requests.at(watch).at("path").as_string()));
        CHECK(client.object().at("items") == recorded.at("items"));
    }
}

}  // namespace

TEST_CASE("ApiServer: it streams what a real API server streamed") {
    int steps = 0;
    for (const fs::path& directory : sorted_entries(fs::path(K8S_SD_TEST_DATA) / "conformance")) {
        if (!fs::exists(directory / "steps")) continue;
        fs::path before = directory;
        for (const fs::path& step : sorted_entries(directory / "steps")) {
            // In this step the server compacted its history: there are no events to replay.
            const bool compacted =
                step.parent_path().parent_path().filename() == "steps-expired-version" &&
                step.filename() == "01-missed-changes";
            if (!compacted) check_step(before, step);
            before = step;
            ++steps;
        }
    }
    CHECK(steps > 40);
}

TEST_CASE("ApiServer: expired and future versions are answered as a real API server did") {
    const fs::path directory = fs::path(K8S_SD_TEST_DATA) / "conformance" / "steps-expired-version";
    const fs::path step = directory / "steps" / "01-missed-changes";
    Fixture f;
    for (const fs::path& list : sorted_entries(step / "api")) f.server.load(slurp(list));
    const json::object requests = json::parse(slurp(step / "requests.json")).as_object();
    for (const auto& [file, request] : requests) {
        const std::string name(file);
        INFO(name);
        auto client = f.client();
        client.get(std::string(request.at("path").as_string()) + query_of(request.as_object()));
        CHECK(client.status() == request.at("http_status").to_number<int>());
        const json::value recorded = json::parse(slurp(step / name));
        const json::value answer = json::parse(client.body());
        if (name.ends_with(".ndjson")) {
            // The message names the remaining versions, which depend on the compaction.
            CHECK(answer.at_pointer("/object/code") == recorded.at_pointer("/object/code"));
            CHECK(answer.at_pointer("/object/reason") == recorded.at_pointer("/object/reason"));
        } else {
            CHECK(answer == recorded);
        }
    }
}
