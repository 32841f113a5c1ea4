// The bytes of a streamed list of pods, and the CPU time to read them, with and without gzip and
// managedFields. The simulated server sends each form; reading is measured alone, from memory.

#include "cluster.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/detail/transport/inflate.hpp"
#include "k8s_sd/detail/watch/form_choices.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "measure.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace k8s_sd;

struct Form {
    const char* name;
    bool gzip;
    bool drop;
};
constexpr Form forms[] = {{"as it is", false, false},
                          {"gzip", true, false},
                          {"without managedFields", false, true},
                          {"both", true, true}};

struct Body final : detail::ResponseSink {
    void on_head(const detail::ResponseHead& head) override {
        type = head.content_type;
        packed = head.content_encoding == "gzip";
    }
    error_code on_body(std::string_view part) override {
        parts.emplace_back(part);
        bytes += part.size();
        return {};
    }

    std::string type;
    bool packed = false;
    std::vector<std::string> parts;  ///< as they arrived
    std::size_t bytes = 0;
};

/// The body of a watch that begins with all pods, up to the end of these.
Body request(sim::Fixture& cluster, std::string_view encoding, const Form& form) {
    const std::string accept =
        form.drop ? detail::accepted::without_managed_fields(encoding) : std::string(encoding);
    detail::HttpRequest http;
    http.text = "GET /api/v1/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&"
                "resourceVersionMatch=NotOlderThan HTTP/1.1\r\nHost: sim\r\nAccept: " +
                accept + "\r\nAccept-Encoding: " + (form.gzip ? "gzip" : "identity") + "\r\n\r\n";
    detail::HttpConnection connection(cluster.context.get_executor(),
                                      cluster.environment().connector, cluster.clock);
    Body body;
    connection.async_send(std::make_shared<ConnectTarget>(ConnectTarget{"sim.invalid", "80", {}}),
                          std::move(http), body, [](error_code, const std::string&) {});
    cluster.settle();
    connection.close();
    return body;
}

struct Counter final : detail::EventSink {
    void on_object(detail::EventType, const detail::DecodedObject&) override { ++objects; }
    void on_bookmark(std::string_view, bool end) override { ended = end; }
    void on_error_event(const detail::ServerStatus&) override {}
    void on_bad_object(const detail::BadObject&) override {}
    std::size_t objects = 0;
    bool ended = false;
};

void read(const Body& body, std::size_t objects, bool dropped) {
    Counter counter;
    detail::ListWatchReader reader(detail::schema_of(Kind::pod), std::size_t{1} << 20, counter);
    reader.expect(detail::Document::watch);
    if (!reader.choose_decoder(body.type)) std::abort();
    detail::Inflater inflater;
    const auto decode = [&](std::string_view bytes) { return reader.feed(bytes); };
    for (const std::string& part : body.parts) {
        if (body.packed ? inflater.feed(part, decode) : decode(part)) std::abort();
    }
    if (counter.objects != objects || !counter.ended) std::abort();
    if (reader.has_managed_fields() == dropped) std::abort();
}

/// The minimum over several rounds.
double read_seconds(const Body& body, std::size_t objects, bool dropped) {
    double least = std::numeric_limits<double>::max();
    for (int i = 0; i < 7; ++i) {
        const double start = bench::cpu_seconds();
        read(body, objects, dropped);
        least = std::min(least, bench::cpu_seconds() - start);
    }
    return least;
}

void print(sim::Fixture& cluster, const char* name, std::string_view encoding,
           std::size_t objects) {
    double all_bytes = 0;
    double all_seconds = 0;
    for (const Form& form : forms) {
        const Body body = request(cluster, encoding, form);
        const auto bytes = static_cast<double>(body.bytes);
        const double seconds = read_seconds(body, objects, form.drop);
        if (all_bytes == 0) all_bytes = bytes, all_seconds = seconds;
        std::printf("| %s | %s | %.0f | %.2f | %.1f | %.2f |\n", name, form.name,
                    bytes / static_cast<double>(objects), bytes / all_bytes,
                    seconds * 1e6 / static_cast<double>(objects), seconds / all_seconds);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_wire [PODS=4000]");
        return 0;
    }
    const bench::Cluster pods(bench::argument(argc, argv, 1, 4000));
    std::string list;
    for (const std::string& part : pods.parts()) list += part;
    sim::FixtureOptions options;
    options.server.drop_managed_fields = true;
    sim::Fixture cluster(options);
    cluster.server.load(list);
    std::puts("| encoding | form | bytes of a pod | × | CPU of a pod, µs | × |\n"
              "| --- | --- | --- | --- | --- | --- |");
    print(cluster, "JSON", detail::accepted::json, pods.size());
    print(cluster, "protobuf", detail::accepted::protobuf, pods.size());
    return 0;
}
