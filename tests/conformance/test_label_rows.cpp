// The rows of docs/guide/labels.md, compared with the labels of all recorded clusters.

#include "conformance/corpus.hpp"
#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/gateway_api.hpp"
#include "support/effort.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json.hpp>
#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace json = boost::json;

namespace k8s_sd::test {

namespace {

using detail::LabelRow;
using enum LabelRow::Place;
using enum LabelRow::Dialects;

/// A documented label of a role's groups or targets: a name, or a family with "*" at its end.
struct Promise {
    std::string name;
    LabelRow::Place place;
    bool always;
    auto operator<=>(const Promise&) const = default;
};
using Promises = std::set<Promise>;

using Dialect = detail::VersionedDialect;

bool is_of(const LabelRow& row, Dialect dialect) {
    return row.since <= dialect.version &&
           (row.dialects == both ||
            (row.dialects == prometheus) == (dialect.labels == LabelDialect::prometheus));
}

std::string full_name(std::string_view name) {
    std::string full = "__meta_kubernetes_" + std::string(name.substr(0, name.find('<')));
    if (full.size() < name.size() + 18) full += '*';
    return full;
}

/// Including the companions of families.
void add_row(Promises& promises, LabelRow row) {
    promises.insert({full_name(row.name), row.place, row.absent.empty()});
    for (const std::string_view family : {"label", "annotation"}) {
        if (!row.name.ends_with("_" + std::string(family) + "_<key>")) continue;
        std::string companion(row.name.substr(0, row.name.find("_<key>")));
        promises.insert({full_name(companion + "present_<key>"), row.place, false});
    }
}

std::vector<LabelRow> rows_of(Role role) {
    switch (role) {
#define K8S_SD_CASE(name, ...)                                      \
    case Role::name:                                                \
        return {std::begin(detail::RoleTraits<Role::name>::labels), \
                std::end(detail::RoleTraits<Role::name>::labels)};
        K8S_SD_ROLES(K8S_SD_CASE)
#undef K8S_SD_CASE
    }
    return {};
}

/// As part of other roles' targets: present sometimes.
LabelRow borrowed(LabelRow row, LabelRow::Place place) {
    row.place = place;
    row.absent = "sometimes";
    return row;
}

bool is_metadata(const LabelRow& row) { return row.name.ends_with("_<key>"); }

bool is_behind_service(Role role) { return role == Role::endpoints || role == Role::endpointslice; }
bool is_route(Role role) {
    return role == Role::httproute || role == Role::grpcroute || role == Role::tlsroute;
}

/// "Attached labels" of the page.
void add_attached(Promises& promises, Role role, LabelDialect dialect) {
    if (role == Role::node) return;
    const bool has_pods = role == Role::pod || is_behind_service(role);
    const auto place = role == Role::pod ? group : target;
    for (const char* name : {"namespace_label_<key>", "namespace_annotation_<key>"}) {
        add_row(promises, {name, group, both, "", "sometimes"});
        if (has_pods && role != Role::pod && dialect == LabelDialect::victoriametrics)
            add_row(promises, {name, target, both, "", "sometimes"});
    }
    if (!has_pods) return;
    for (const LabelRow& row : rows_of(Role::node)) {
        if (row.name == "node_name" || (is_metadata(row))) add_row(promises, borrowed(row, place));
    }
    for (const char* name : {"pod_deployment_name", "pod_job_name", "pod_cronjob_name"})
        add_row(promises, {name, place, both, "", "sometimes"});
}

/// "Labels of the service" and "Labels of the pod".
void add_behind_endpoints(Promises& promises, LabelDialect dialect) {
    for (const LabelRow& row : rows_of(Role::service)) {
        if (row.place == target || row.dialects == prometheus) continue;
        const bool in_both = row.name == "service_name" || is_metadata(row);
        if (in_both || dialect == LabelDialect::victoriametrics)
            add_row(promises, borrowed(row, group));
    }
    for (const LabelRow& row : rows_of(Role::pod)) {
        if (row.name != "pod_container_id") add_row(promises, borrowed(row, target));
    }
    if (dialect == LabelDialect::victoriametrics)
        add_row(promises, {"namespace", target, both, "", "sometimes"});
}

/// "Labels of the gateway".
void add_gateway(Promises& promises) {
    for (LabelRow row : rows_of(Role::gateway)) {
        row.place = target;
        add_row(promises, row);
    }
}

Promises promises_of(Role role, Dialect dialect) {
    Promises promises{{"__address__", target, true}};
    if (role == Role::node) promises.insert({"instance", target, true});
    if (role != Role::node) add_row(promises, {"namespace", group, both, "", ""});
    for (const LabelRow& row : rows_of(role)) {
        if (is_of(row, dialect)) add_row(promises, row);
    }
    if (is_behind_service(role)) add_behind_endpoints(promises, dialect.labels);
    if (is_route(role)) add_gateway(promises);
    add_attached(promises, role, dialect.labels);
    return promises;
}

/// Tracks the documented labels that were seen, and the labels without documentation.
class LabelCheck {
 public:
    LabelCheck(Role role, Dialect dialect) : promises_(promises_of(role, dialect)) {}

    void see(const TargetGroup& found) {
        see(found.labels(), group);
        for (std::size_t i = 0; i < found.size(); ++i) see(found[i], target);
    }
    std::set<std::string> unseen() const {
        std::set<std::string> names;
        for (const Promise& promise : promises_) {
            if (!seen_.contains(promise)) names.insert(promise.name + where(promise.place));
        }
        return names;
    }
    std::set<std::string> problems;

 private:
    void see(const Labels& labels, LabelRow::Place place) {
        std::set<std::string, std::less<>> names;
        for (const auto& [name, value] : labels) {
            names.emplace(name);
            const Promise* promise = find(name, place);
            if (promise == nullptr)
                problems.insert(std::string(name) + where(place) + " is in no row");
            else
                seen_.insert(*promise);
        }
        for (const Promise& promise : promises_) {
            if (promise.place == place && promise.always && !names.contains(promise.name))
                problems.insert(promise.name + where(place) + " may be absent");
        }
    }
    static std::string where(LabelRow::Place place) {
        return place == group ? " of a group" : " of a target";
    }
    static bool is_it(const Promise& promise, std::string_view name) {
        const std::string_view family = promise.name;
        if (!family.ends_with('*')) return name == family;
        return name.starts_with(family.substr(0, family.size() - 1));
    }
    /// Of several families, the one with the longest name.
    const Promise* find(std::string_view name, LabelRow::Place place) const {
        const Promise* found = nullptr;
        for (const Promise& promise : promises_) {
            if (promise.place != place || !is_it(promise, name)) continue;
            if (!found || promise.name.size() > found->name.size()) found = &promise;
        }
        return found;
    }

    Promises promises_;
    Promises seen_;
};

using Checks = std::map<Role, LabelCheck>;

/// All groups of the server's objects, with everything attached.
void check_server(Simulation& sim, Dialect dialect, Checks& checks) {
    std::list<Discoverer> discoverers;
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        const Role role = static_cast<Role>(i);
        if (role >= Role::gateway && dialect.labels == LabelDialect::victoriametrics) continue;
        LabelCheck& check = checks.try_emplace(role, role, dialect).first->second;
        DiscoveryConfig config;
        config.role = role;
        config.dialect = dialect.labels;
        config.prometheus_version = dialect.version;
        config.api_server.url = sim.server.url();
        config.attach_metadata = {true, true, true, true, true};
        auto& discoverer = discoverers.emplace_back(
            sim.context.get_executor(), config, [&check](const TargetGroupDiff& diff) {
                for (const GroupChange& change : diff.updated) check.see(*change.group);
            });
        discoverer.async_run(boost::asio::detached);
    }
    sim.settle();
}

/// Cases missing from all recorded clusters: services and pods of other kinds behind endpoints,
/// and Gateway API.
constexpr const char* unrecorded[] = {
    R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"b","labels":{"team":"x"},
        "annotations":{"note":"y"}}})",
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}})",
    R"({"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"web-1","namespace":"b",
        "ownerReferences":[{"kind":"Deployment","name":"web","uid":"1","apiVersion":"apps/v1",
        "controller":true}]}})",
    R"({"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"tidy-1","namespace":"b",
        "ownerReferences":[{"kind":"CronJob","name":"tidy","uid":"2","apiVersion":"batch/v1",
        "controller":true}]}})",
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"b",
        "ownerReferences":[{"kind":"ReplicaSet","name":"web-1","uid":"3","apiVersion":"apps/v1",
        "controller":true}]},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},
        "status":{"podIP":"10.0.0.1","phase":"Running"}})",
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"q","namespace":"b",
        "ownerReferences":[{"kind":"Job","name":"tidy-1","uid":"4","apiVersion":"batch/v1",
        "controller":true}]},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},
        "status":{"podIP":"10.0.0.2","phase":"Running"}})",
    R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"s","namespace":"a"},
        "spec":{"type":"ExternalName","externalName":"example.org"}})",
    R"({"kind":"Endpoints","apiVersion":"v1","metadata":{"name":"s","namespace":"a"},
        "subsets":[{"ports":[{"port":80}],"addresses":[
        {"ip":"10.0.0.1","targetRef":{"kind":"Pod","namespace":"b","name":"p"}},
        {"ip":"10.0.0.2","targetRef":{"kind":"Pod","namespace":"b","name":"q"}}]}]})",
    R"({"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":{"name":"s-1",
        "namespace":"a","labels":{"kubernetes.io/service-name":"s"}},"addressType":"IPv4",
        "ports":[{"port":80}],"endpoints":[
        {"addresses":["10.0.0.1"],"targetRef":{"kind":"Pod","namespace":"b","name":"p"},
         "deprecatedTopology":{"rack":"r1"}},
        {"addresses":["10.0.0.2"],"targetRef":{"kind":"Pod","namespace":"b","name":"q"}}]})"};

void add_gateway_objects(sim::ApiServer& server) {
    sim::add_gateway_api(server);
    server.apply(sim::gateway("b", "edge")
                     .label("team", "net")
                     .annotation("note", "x")
                     .listener("http", "HTTP", 80)
                     .listener("tls", "TLS", 443)
                     .address("192.0.2.1"));
    server.apply(sim::gateway("b", "bare").listener("http", "HTTP", 80, "a.example.com"));
    const auto attached = [](sim::RouteBuilder route) {
        return route.label("app", "x").annotation("note", "y").parent("edge").parent("bare");
    };
    server.apply(attached(sim::http_route("b", "r").path("/")));
    server.apply(attached(sim::grpc_route("b", "r").method("s")));
    server.apply(attached(sim::tls_route("b", "r")));
}

Checks check_all(Dialect dialect) {
    Checks checks;
    Simulation made;
    for (const char* object : unrecorded) made.server.apply(json::parse(object).as_object());
    add_gateway_objects(made.server);
    check_server(made, dialect, checks);
    for (const std::string& name : corpus_cases()) {
        for (const auto& state : read_case(name).states) {
            Simulation recorded;
            for (const std::string& list : read_lists(state)) recorded.server.load(list);
            check_server(recorded, dialect, checks);
        }
    }
    return checks;
}

/// Labels that no current server produces, see tests/unit/kinds.
std::set<std::string> unseen_in(Role role, Dialect dialect) {
    if (role != Role::endpointslice || dialect.labels == LabelDialect::prometheus) return {};
    return {"__meta_kubernetes_endpointslice_endpoint_topology_* of a target",
            "__meta_kubernetes_endpointslice_endpoint_topology_present_* of a target"};
}

}  // namespace

TEST_CASE("Labels: recorded clusters have exactly the labels of docs/guide/labels.md") {
    const Dialect dialects[] = {{LabelDialect::prometheus, PrometheusVersion::v3_5},
                                {LabelDialect::prometheus, PrometheusVersion::v3_15},
                                {LabelDialect::victoriametrics, PrometheusVersion::v3_5}};
    for (std::size_t i = 0; i < std::size(dialects); i += step_of(2)) {
        const Dialect& dialect = dialects[i];
        for (const auto& [role, check] : check_all(dialect)) {
            CAPTURE(to_string(dialect.labels), to_string(dialect.version), to_string(role));
            CHECK(check.problems == std::set<std::string>());
            CHECK(check.unseen() == unseen_in(role, dialect));
        }
    }
}

}  // namespace k8s_sd::test
