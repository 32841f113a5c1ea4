// The work whose instructions scripts/bench counts, one region per run: code outside of the
// measured_...() functions is preparation.

#include "cluster.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/target_groups.hpp"

#include <boost/version.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace k8s_sd;
using namespace k8s_sd::detail;

struct Region {
    std::function<void()> prepare, work;
};

/// Receives objects as a watcher does and, if requested, makes cached objects of them.
struct Sink final : EventSink {
    void on_object(EventType, const DecodedObject& object) override {
        ++count;
        if (maker) objects.push_back(maker->make(object));
    }
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const ServerStatus&) override {}
    void on_bad_object(const BadObject&) override {}

    ObjectMaker* maker = nullptr;
    std::size_t count = 0;
    std::vector<ObjectPtr> objects;
};

struct NothingElse final : Lookup {
    const Object* find(Kind, std::string_view, std::string_view) override { return nullptr; }
};

constexpr std::size_t chunk = 64 * 1024;
constexpr std::size_t max_object_bytes = 16 << 20;

void decode(std::string_view body, std::string_view type, Sink& sink) {
    ListWatchReader reader(schema_of(Kind::pod), max_object_bytes, sink);
    reader.expect(Document::list);
    if (!reader.choose_decoder(type)) std::abort();
    for (; !body.empty(); body.remove_prefix(std::min(chunk, body.size()))) {
        if (reader.feed(body.substr(0, chunk))) std::abort();
    }
    if (reader.finish() || sink.count == 0) std::abort();
}

std::string json;
std::string protobuf;
Sink sink;
ObjectMaker maker;
TargetGroups host;
TargetGroupDiff diff;

std::vector<TargetGroupPtr> generate_all() {
    GroupBuilder builder;
    NothingElse lookup;
    GeneratorContext context{maker.options, maker.factory, lookup, builder};
    std::vector<TargetGroupPtr> groups;
    for (const ObjectPtr& object : sink.objects) {
        groups.push_back(generate(Role::pod, *object, context));
    }
    return groups;
}

void make_objects() {
    sink.maker = &maker;
    decode(json, "application/json", sink);
}

void make_diff() {
    make_objects();
    const std::vector<TargetGroupPtr> before = generate_all();
    const std::vector<TargetGroupPtr> after = generate_all();
    diff.full = true;
    for (const TargetGroupPtr& group : before) diff.updated.push_back({group, nullptr});
    host.apply(diff);
    diff = {};
    for (std::size_t i = 0; i < before.size(); ++i) diff.updated.push_back({after[i], before[i]});
}

}  // namespace

// Callgrind selects the functions by these names.
extern "C" {
[[gnu::noinline]] void measured_decode_json() { decode(json, "application/json", sink); }
[[gnu::noinline]] void measured_decode_protobuf() {
    decode(protobuf, "application/vnd.kubernetes.protobuf", sink);
}
[[gnu::noinline]] void measured_make() { make_objects(); }
[[gnu::noinline]] void measured_generate() { generate_all(); }
[[gnu::noinline]] void measured_diff() {
    for (const GroupChange& change : diff.updated) {
        if (!change.targets().added.empty()) std::abort();
    }
    host.apply(diff);
}
}

int main(int argc, char** argv) {
    const std::map<std::string_view, Region> regions{
        {"decode_json", {[] {}, measured_decode_json}},
        {"decode_protobuf", {[] {}, measured_decode_protobuf}},
        {"diff", {make_diff, measured_diff}},
        {"generate", {make_objects, measured_generate}},
        {"make", {[] {}, measured_make}},
    };
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    if (wanted == "--regions") {
        for (const auto& [name, region] : regions) std::printf("%s\n", std::string(name).c_str());
        return 0;
    }
    if (wanted == "--built-with") {
        std::printf("g++ %s, Boost %s, x86-64\n", __VERSION__, BOOST_LIB_VERSION);
        return 0;
    }
    const auto it = regions.find(wanted);
    if (it == regions.end()) {
        std::fputs("usage: bench_instructions --regions | --built-with | REGION\n", stderr);
        return 2;
    }
    json = bench::recorded("pods.json.gz");
    protobuf = bench::recorded("pods.pb.gz");
    it->second.prepare();
    it->second.work();
    return 0;
}
