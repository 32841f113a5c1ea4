// The number of allocations of a pod on its way from the received bytes to its target group. The
// bounds have no slack, so each increase is a decision.

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "sim/protobuf/encode.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

constexpr int pod_count = 200;

/// The allocations of a pod in each step, and the bytes of all.
struct Steps {
    long decode = 0, make = 0, store = 0, generate = 0, bytes = 0;
    auto operator<=>(const Steps&) const = default;
};

/// Takes pods as a watch and its groups do, and keeps what they keep.
class Pods final : public detail::EventSink, private detail::Lookup {
 public:
    Pods() { steps_.reserve(pod_count); }

    void begin_list() { store_.begin_list(); }
    void end_list() { static_cast<void>(store_.finish_list(pod_count)); }
    /// Counts the pods from now on.
    void start_counting() {
        steps_.clear();
        memory_use = {.on = true};
    }
    void stop_counting() { memory_use.on = false; }
    /// The steps of most pods: those that let a table grow take more.
    Steps usual_steps() const {
        std::map<Steps, std::size_t> times;
        for (const Steps& steps : steps_) ++times[steps];
        const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
        return std::max_element(times.begin(), times.end(), fewer)->first;
    }

 private:
    void on_object(detail::EventType type, const detail::DecodedObject& decoded) override {
        Steps steps;
        steps.decode = taken();
        ObjectPtr object = maker_.make(decoded);
        steps.make = taken();
        const bool listed = type == detail::EventType::added;
        const ObjectChange change =
            listed ? store_.put_listed(std::move(object)) : store_.put(std::move(object));
        steps.store = taken();
        steps.bytes = std::exchange(memory_use.requested, 0);
        if (change.after) {
            detail::GeneratorContext context{maker_.options, maker_.factory, *this, builder_};
            TargetGroupPtr& group = groups_[std::string(change.after->name())];
            memory_use = {.on = true};  // without the map
            group = detail::generate(Role::pod, *change.after, context, group);
            steps.generate = taken();
            steps.bytes += std::exchange(memory_use.requested, 0);
        }
        steps_.push_back(steps);
    }
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const detail::ServerStatus&) override {}
    void on_bad_object(const detail::BadObject&) override {}
    const Object* find(Kind, std::string_view, std::string_view) override { return nullptr; }

    /// Allocations since the last call.
    static long taken() { return std::exchange(memory_use.allocations, 0); }

    detail::ObjectMaker maker_;
    detail::ObjectStore store_;
    detail::GroupBuilder builder_;
    std::map<std::string, TargetGroupPtr> groups_;
    std::vector<Steps> steps_;
};

/// A pod of a deployment: two containers, three ports, an annotation of its own.
boost::json::object pod(int number, const std::string& revision) {
    const std::string name = "app-7d9c6b8f5-x" + std::to_string(1000 + number);
    sim::PodBuilder pod("default", name);
    pod.uid("00000000-0000-0000-0000-00000000" + std::to_string(1000 + number))
        .ip("10.64.1." + std::to_string(100 + number % 100))
        .host_ip("10.1.0.1")
        .node("node-00001")
        .phase("Running")
        .ready()
        .controller("ReplicaSet", "app-7d9c6b8f5")
        .label("app", "app")
        .label("revision", revision)
        .annotation("number", std::to_string(1000 + number));
    const std::string id = "containerd://4f3c2b1a0f9e8d7c6b5a" + std::to_string(1000 + number);
    pod.container("app", "registry.example.com/app:1").port("http", 8080).port("metrics", 9090);
    pod.container_id(id + "00").container("sidecar", "registry.example.com/proxy:1");
    pod.port("admin", 15000).container_id(id + "01");
    return pod;
}

struct Encoding {
    std::string_view type;
    std::string (*list)(const std::vector<boost::json::object>&);
    std::string (*event)(const boost::json::object&);
};

const sim::Message pod_message = sim::find_message("v1", "Pod");

const std::array<Encoding, 2> encodings{{
    {"application/json",
     [](const std::vector<boost::json::object>& pods) {
         std::string items;
         for (const auto& pod : pods) (items += items.empty() ? "" : ",") += serialize(pod);
         return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},)"
                R"("items":[)" +
                items + "]}";
     },
     [](const boost::json::object& pod) {
         return R"({"type":"MODIFIED","object":)" + serialize(pod) + "}\n";
     }},
    {"application/vnd.kubernetes.protobuf",
     [](const std::vector<boost::json::object>& pods) {
         sim::ListMessage list(
             sim::encode_protobuf(sim::list_meta_message(), {{"resourceVersion", "1"}}));
         for (const auto& pod : pods) list.add(sim::encode_protobuf(pod_message, pod));
         return sim::protobuf_body("v1", "PodList", list.bytes());
     },
     [](const boost::json::object& pod) {
         std::string frame;
         sim::append_protobuf_frame(
             frame, "MODIFIED",
             sim::protobuf_body("v1", "Pod", sim::encode_protobuf(pod_message, pod)));
         return frame;
     }},
}};

struct Figures {
    Steps first_list, list_again, modified;
};

Figures figures(const Encoding& encoding) {
    std::vector<boost::json::object> all;
    std::string events;
    for (int i = 0; i < pod_count; ++i) {
        all.push_back(pod(i, "1"));
        events += encoding.event(pod(i, std::to_string(i % 10)));
    }
    const std::string list = encoding.list(all);

    Pods pods;
    const detail::KindSchema& schema = detail::schema_of(Kind::pod);
    detail::ListWatchReader reader(schema, std::size_t{1} << 20, pods);
    const auto read = [&](detail::Document document, std::string_view type, std::string_view body) {
        pods.start_counting();
        reader.expect(document);
        REQUIRE(reader.choose_decoder(type));
        REQUIRE_FALSE(reader.feed(body));
        REQUIRE_FALSE(reader.finish());
        pods.stop_counting();
        return pods.usual_steps();
    };
    const auto read_list = [&] {
        pods.begin_list();
        const Steps steps = read(detail::Document::list, encoding.type, list);
        pods.end_list();
        return steps;
    };
    Figures figures;
    figures.first_list = read_list();
    figures.list_again = read_list();
    figures.modified = read(detail::Document::watch, encoding.type, events);
    return figures;
}

}  // namespace

TEST_CASE("Allocations of a pod: at most as many as stated, from its bytes to its targets") {
    for (const Encoding& encoding : encodings) {
        const Figures found = figures(encoding);
        const auto check = [&](const char* phase, const Steps& steps, const Steps& bounds) {
            CAPTURE(encoding.type, phase);
            CHECK(steps.decode <= bounds.decode);
            CHECK(steps.make <= bounds.make);
            CHECK(steps.store <= bounds.store);
            CHECK(steps.generate <= bounds.generate);
            CHECK(steps.bytes <= bounds.bytes);
        };
        check("first list", found.first_list, {2, 3, 0, 2, 972});
        check("list again", found.list_again, {2, 2, 0, 0, 736});
        check("MODIFIED", found.modified, {2, 2, 0, 2, 951});
    }
}
