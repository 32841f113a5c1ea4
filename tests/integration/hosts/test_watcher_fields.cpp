#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/sim/gateway_api.hpp"
#include "support/model_text.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
namespace json = boost::json;

namespace {

/// A document in which each field of a struct has a non-empty value.
/// \tparam custom  a custom resource, in JSON only
template <bool custom>
struct FullDocument {
    template <class Rows>
    static json::object of(const Rows& rows) {
        json::object object;
        detail::for_each_row(rows, [&](const auto& row) {
            using Field = typename std::decay_t<decltype(row)>::Field;
            if (row.number == 0 && !custom) return;  // v1beta1: JSON alone
            object[row.name] = value<Field>();
            if (row.format == detail::Format::base64) object[row.name] = {{"bytes", "MTY="}};
        });
        return object;
    }

 private:
    template <class Field>
    static json::value value() {
        if constexpr (std::is_same_v<Field, std::string_view>) {
            return "text";
        } else if constexpr (std::is_same_v<Field, std::int64_t>) {
            return 7;
        } else if constexpr (std::is_same_v<Field, bool>) {
            return true;
        } else if constexpr (std::is_same_v<Field, std::chrono::sys_seconds>) {
            return "2026-01-02T03:04:05Z";
        } else if constexpr (std::is_same_v<Field, api::StringMap>) {
            return json::object{{"key", "16"}};
        } else if constexpr (detail::IsVector<Field>::value || detail::IsOptional<Field>::value) {
            json::value inner = value<typename Field::value_type>();
            if constexpr (detail::IsVector<Field>::value) return json::array{std::move(inner)};
            return inner;
        } else {
            return of(detail::Table<Field>::rows);
        }
    }
};

/// The only object, as a watcher delivers it.
template <class T>
std::string watched_text(Simulation& sim, bool protobuf) {
    WatcherConfig config;
    config.fields = Fields(detail::field_paths(api::kind_of<T>));
    config.api_server.url = sim.server.url();
    config.watch.protobuf = protobuf;
    std::string text;
    Watcher<T> watcher(sim.context.get_executor(), config, [&](const ObjectDiff<T>& diff) {
        for (const auto& object : diff.added) text = ModelText::of(api::kind_of<T>, object.get());
    });
    watcher.async_run([](error_code) {});
    sim.settle();
    return text;
}

std::string without(std::string_view part, std::string text) {
    const std::size_t at = text.find(part);
    return at == std::string::npos ? text : text.erase(at, part.size());
}

template <class T>
void check_all_fields() {
    constexpr Kind kind = api::kind_of<T>;
    CAPTURE(to_string(kind));
    const Resource& resource = resource_of(kind);
    using Traits = detail::KindTraits<kind>;
    constexpr bool custom = requires { Traits::is_custom; };
    json::object document = FullDocument<custom>::of(Traits::rows);
    document["kind"] = resource.kind;
    document["apiVersion"] = (resource.group.empty() ? "" : std::string(resource.group) + "/") +
                             std::string(resource.version);
    document["metadata"].as_object()["resourceVersion"] = "1";
    if (!resource.namespaced) document["metadata"].as_object().erase("namespace");
    Simulation sim;
    sim::add_gateway_api(sim.server);
    sim.server.apply(document);
    const std::string of_json = watched_text<T>(sim, false);
    CHECK(watched_text<T>(sim, true) == of_json);
    for (const char* empty : {"=\"\"", "=0 ", "=false", "=none", "=[ ]"}) {
        const std::string text =
            without(resource.namespaced ? "topology=[ ]" : "namespace=\"\"", of_json);
        const std::size_t at = text.find(empty);
        if (at != std::string::npos)
            FAIL_CHECK("a field is empty: " << text.substr(at < 40 ? 0 : at - 40, 60));
    }
}

}  // namespace

TEST_CASE("Watcher: every field of every struct is read of both encodings of a server") {
    check_all_fields<api::Pod>();
    check_all_fields<api::Node>();
    check_all_fields<api::Service>();
    check_all_fields<api::Endpoints>();
    check_all_fields<api::EndpointSlice>();
    check_all_fields<api::Ingress>();
    check_all_fields<api::Namespace>();
    check_all_fields<api::ReplicaSet>();
    check_all_fields<api::Job>();
    check_all_fields<api::Secret>();
    check_all_fields<api::ConfigMap>();
    check_all_fields<api::Gateway>();
    check_all_fields<api::HTTPRoute>();
    check_all_fields<api::GRPCRoute>();
    check_all_fields<api::TLSRoute>();
}
