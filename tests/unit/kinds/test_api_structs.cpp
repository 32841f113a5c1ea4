// The structs of k8s_sd::api, read from lists of a real API server.

#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/kinds/typed_object.hpp"
#include "support/model_reading.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace k8s_sd::detail;
namespace json = boost::json;

namespace {

const std::vector<Kind> recorded_api_kinds{Kind::pod, Kind::node, Kind::service, Kind::endpoints,
                                           Kind::endpointslice};

std::string recorded_body(Kind kind, const char* extension) {
    std::ifstream file(std::string(K8S_SD_TEST_DATA) + "/protobuf/" + std::string(to_string(kind)) +
                           extension,
                       std::ios::binary);
    if (!file) throw std::runtime_error("no test data");
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Reports differences between a struct and its JSON document.
class FieldCheck {
 public:
    template <class Struct, class Rows>
    void compare(const Struct& object, const Rows& rows, const json::value* document,
                 const std::string& path = {}) {
        for_each_row(rows, [&](const auto& row) {
            const json::value* member = nullptr;
            if (document != nullptr && document->is_object())
                member = document->as_object().if_contains(row.name);
            if (member != nullptr && member->is_null()) member = nullptr;
            const std::string here = path + "." + std::string(row.name);
            if (member != nullptr) ++found[here];
            value(object.*row.pointer, member, here);
        });
    }
    std::vector<std::string> differences;
    std::map<std::string, int> found;  ///< how often a field was present

 private:
    void check(bool same, const std::string& path) {
        if (!same) differences.push_back(path);
    }
    void value(std::string_view text, const json::value* v, const std::string& path) {
        check(text == (v ? std::string_view(v->as_string()) : std::string_view()), path);
    }
    void value(std::int64_t number, const json::value* v, const std::string& path) {
        check(number == (v ? v->as_int64() : 0), path);
    }
    void value(std::same_as<bool> auto yes, const json::value* v, const std::string& path) {
        check(yes == (v != nullptr && v->as_bool()), path);
    }
    void value(std::chrono::sys_seconds time, const json::value* v, const std::string& path) {
        check(v != nullptr && read_rfc3339(v->as_string()) == time, path);
    }
    void value(const api::StringMap& map, const json::value* v, const std::string& path) {
        check(map.size() == (v ? v->as_object().size() : 0), path);
        for (const auto& [key, text] : map) {
            const json::value* member = v ? v->as_object().if_contains(key) : nullptr;
            check(member != nullptr && member->as_string() == text, path + "." + std::string(key));
        }
    }
    template <class T>
    void value(const std::optional<T>& optional, const json::value* v, const std::string& path) {
        check(optional.has_value() == (v != nullptr), path);
        if (optional && v) value(*optional, v, path);
    }
    template <class T>
    void value(const std::vector<T>& values, const json::value* v, const std::string& path) {
        check(values.size() == (v ? v->as_array().size() : 0), path);
        if (!v || values.size() != v->as_array().size()) return;
        for (std::size_t i = 0; i < values.size(); ++i) value(values[i], &v->as_array()[i], path);
    }
    template <class Struct>
    requires requires { Table<Struct>::rows; }
    void value(const Struct& object, const json::value* v, const std::string& path) {
        compare(object, Table<Struct>::rows, v, path);
    }
};

/// Keeps the objects of a list, as a watch with that form would.
struct KeptList final : private EventSink {
    KeptList(const ObjectForm& kept, std::string_view type, std::string_view body) : form(kept) {
        ListWatchReader reader(form.schema, std::size_t{16} << 20, *this);
        reader.expect(Document::list);
        if (!reader.choose_decoder(type)) throw std::logic_error("no decoder");
        REQUIRE_FALSE(reader.feed(body));
        REQUIRE_FALSE(reader.finish());
    }
    std::vector<ObjectPtr> objects;

 private:
    void on_object(EventType, const DecodedObject& object) override {
        objects.push_back(maker.make(object, &form));
    }
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const ServerStatus&) override {}
    void on_bad_object(const BadObject& bad) override { FAIL("a bad object: " << bad.problem); }
    const ObjectForm& form;
    ObjectMaker maker;
};

template <Kind kind>
const auto& struct_in(const ObjectPtr& object) {
    using Model = typename KindTraits<kind>::Model;
    return *static_cast<const Model*>(object->api_object().get());
}

constexpr std::string_view one_pod =
    R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"web",)"
    R"("namespace":"shop","uid":"u","resourceVersion":"7","labels":{"a/b":"1"},)"
    R"("annotations":{"x":"y"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}],)"
    R"("ephemeralContainers":[{"name":"debug","image":"busybox","targetContainerName":"c"}]},)"
    R"("status":{"phase":"Running","containerStatuses":[{"name":"c","containerID":"cri://1",)"
    R"("restartCount":3,"state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}}}]}}]})";

}  // namespace

TEST_CASE("API structs: recorded lists have what a full parse of their JSON says, field by field") {
    for (const Kind kind : recorded_api_kinds) {
        CAPTURE(to_string(kind));
        const std::string body = recorded_body(kind, ".json");
        const json::value document = json::parse(body);
        const json::array& items = document.at("items").as_array();
        const ObjectForm form(kind, Fields::all(), false);
        with_kind(kind, [&](auto traits) {
            using Model = typename decltype(traits)::Model;
            for (const auto& [type, bytes] :
                 {std::pair(json_type, body),
                  std::pair(protobuf_type, recorded_body(kind, ".pb"))}) {
                CAPTURE(type);
                const KeptList list(form, type, bytes);
                REQUIRE(list.objects.size() == items.size());
                FieldCheck check;
                for (std::size_t i = 0; i < items.size(); ++i) {
                    const auto object = struct_of<Model>(*list.objects[i]);
                    check.compare(*object, traits.rows, &items[i]);
                }
                CHECK(check.differences == std::vector<std::string>());
                CHECK(check.found.size() >= 10);
            }
        });
    }
}

TEST_CASE("API structs: what is kept for labels as well is the same") {
    for (const Kind kind : recorded_api_kinds) {
        CAPTURE(to_string(kind));
        const std::string body = recorded_body(kind, ".pb");
        const ObjectForm alone(kind, Fields::all(), false);
        const ObjectForm both(kind, Fields::all(), true);
        const KeptList for_hosts(alone, protobuf_type, body);
        const KeptList for_both(both, protobuf_type, body);
        REQUIRE(for_hosts.objects.size() == for_both.objects.size());
        const FieldMask mask = mask_of(kind, Fields::all());
        for (std::size_t i = 0; i < for_hosts.objects.size(); ++i) {
            CHECK(for_hosts.objects[i]->has_api_object());
            CHECK_FALSE(for_hosts.objects[i]->has_labels());
            CHECK(for_both.objects[i]->has_labels());
            CHECK(same_fields(*for_hosts.objects[i], *for_both.objects[i], Fields::all(), mask));
            CHECK(for_hosts.objects[i]->name() == for_both.objects[i]->name());
        }
    }
}

TEST_CASE("API structs: a pod has what no label has") {
    const ObjectForm form(Kind::pod, Fields::all(), false);
    const KeptList list(form, json_type, one_pod);
    REQUIRE(list.objects.size() == 1);
    const api::Pod& pod = struct_in<Kind::pod>(list.objects[0]);
    CHECK(pod.metadata.labels.find("a/b") == "1");
    CHECK_FALSE(pod.metadata.labels.contains("a_b"));
    CHECK(pod.spec.ephemeral_containers.at(0).name == "debug");
    CHECK(pod.spec.ephemeral_containers.at(0).target_container_name == "c");
    const api::ContainerStatus& status = pod.status.container_statuses.at(0);
    CHECK(status.container_id == "cri://1");
    CHECK(status.restart_count == 3);
    REQUIRE(status.state.running);
    CHECK(status.state.running->started_at == read_rfc3339("2026-01-02T03:04:05Z"));
    CHECK(pod.status.pod_ip.empty());
}

TEST_CASE("API structs: fields that are not kept are empty and make no difference") {
    const Fields fields{"metadata.labels", "status.containerStatuses.containerID"};
    const ObjectForm form(Kind::pod, fields, false);
    const KeptList list(form, json_type, one_pod);
    const api::Pod& pod = struct_in<Kind::pod>(list.objects.at(0));
    CHECK(pod.metadata.name == "web");
    CHECK(pod.metadata.namespace_ == "shop");
    CHECK(pod.metadata.labels.find("a/b") == "1");
    CHECK(pod.status.container_statuses.at(0).container_id == "cri://1");
    CHECK(pod.metadata.annotations.empty());
    CHECK(pod.spec == api::PodSpec());
    CHECK(pod.status.phase.empty());
    CHECK(pod.status.container_statuses.at(0).name.empty());
    CHECK(pod.status.container_statuses.at(0).restart_count == 0);
    std::string other(one_pod);
    other.replace(other.find("Running"), 7, "Failed!");
    const KeptList after(form, json_type, other);
    CHECK(list.objects[0]->same_content(*after.objects.at(0)));
    other.replace(other.find("cri://1"), 7, "cri://2");
    const KeptList restarted(form, json_type, other);
    CHECK_FALSE(list.objects[0]->same_content(*restarted.objects.at(0)));
}

TEST_CASE("API structs: a resource version alone is no difference, even where it is named") {
    const ObjectForm form(Kind::pod, {"metadata.resourceVersion", "metadata.labels"}, false);
    const KeptList before(form, json_type, one_pod);
    std::string other(one_pod);
    other.replace(other.find(R"("7")"), 3, R"("8")");
    const KeptList after(form, json_type, other);
    CHECK(same_fields(*before.objects.at(0), *after.objects.at(0), form.fields, form.mask));
    CHECK(struct_in<Kind::pod>(after.objects[0]).metadata.resource_version == "8");
}

TEST_CASE("API structs: all of a Secret is without its annotations, which have to be named") {
    CHECK(fields_meant(Kind::pod, Fields::all()) == Fields::all());
    CHECK(fields_meant(Kind::configmap, Fields::all()) == Fields::all());
    const Fields meant = fields_meant(Kind::secret, Fields::all());
    CHECK_FALSE(meant.reaches("metadata.annotations"));
    for (const std::string& path : field_paths(Kind::secret))
        CHECK(meant.reaches(path) == (path != "metadata.annotations"));
    CHECK(fields_meant(Kind::secret, {"metadata"}) == Fields{"metadata"});
}

TEST_CASE("API structs: only the metadata is asked for where nothing else is kept") {
    CHECK(make_schema(Kind::namespace_, {}).metadata_only);
    CHECK(make_schema(Kind::replicaset, Fields::all()).metadata_only);
    CHECK_FALSE(make_schema(Kind::namespace_, Fields::all()).metadata_only);
    CHECK_FALSE(make_schema(Kind::pod, {}).metadata_only);
    CHECK(make_schema(Kind::secret, {"metadata.annotations"}).metadata_only);
    CHECK_FALSE(make_schema(Kind::secret, {"type"}).metadata_only);
    CHECK_FALSE(schema_of(Kind::secret).metadata_only);
}

TEST_CASE("API structs: quantities and times are read of both encodings alike") {
    const ObjectForm form(Kind::node, {"status.capacity", "metadata.creationTimestamp"}, false);
    const KeptList json_list(form, json_type, recorded_body(Kind::node, ".json"));
    const KeptList protobuf_list(form, protobuf_type, recorded_body(Kind::node, ".pb"));
    const api::Node& node = struct_in<Kind::node>(protobuf_list.objects.at(0));
    CHECK(node.status.capacity.find("cpu").value_or("") != "");
    CHECK(node.metadata.creation_timestamp);
    CHECK(node == struct_in<Kind::node>(json_list.objects.at(0)));
}

TEST_CASE("Fields: a path stands for all below it") {
    const Fields fields{"status.conditions", "metadata.labels", "status.conditions.type"};
    CHECK(fields.paths() == std::vector<std::string>{"metadata.labels", "status.conditions"});
    CHECK(fields.reaches("status"));
    CHECK(fields.reaches("status.conditions.type"));
    CHECK_FALSE(fields.reaches("status.cond"));
    CHECK_FALSE(fields.reaches("spec"));
    CHECK(fields.includes({"status.conditions.status"}));
    CHECK_FALSE(fields.includes({"status"}));
    CHECK(Fields::all().includes(fields));
    CHECK_FALSE(fields.includes(Fields::all()));
    CHECK_FALSE(Fields().reaches("metadata"));
}
