#include "sim/store/resource_type.hpp"

#include "k8s_sd/kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace k8s_sd::inline v0::sim {
namespace {

constexpr std::array<std::string_view, 9> pod_fields{"spec.nodeName",
                                                     "spec.restartPolicy",
                                                     "spec.schedulerName",
                                                     "spec.serviceAccountName",
                                                     "spec.hostNetwork",
                                                     "status.phase",
                                                     "status.podIP",
                                                     "status.podIPs",
                                                     "status.nominatedNodeName"};
constexpr std::array<std::string_view, 1> node_fields{"spec.unschedulable"};
constexpr std::array<std::string_view, 2> service_fields{"spec.clusterIP", "spec.type"};
constexpr std::array<std::string_view, 1> namespace_fields{"status.phase"};
constexpr std::array<std::string_view, 1> secret_fields{"type"};
constexpr std::array<std::string_view, 1> job_fields{"status.successful"};
constexpr std::array<std::string_view, 1> replicaset_fields{"status.replicas"};

constexpr std::string_view node_zero =
    R"(,"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{)"
    R"("machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"",)"
    R"("containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"",)"
    R"("operatingSystem":"","architecture":""}})";
constexpr std::string_view template_zero =
    R"(,"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},)"
    R"("status":{})";

/// What a kind of the library has here besides its row in `resources`.
struct Extras {
    Kind kind;
    std::string_view short_name;
    std::span<const std::string_view> fields;
    std::string_view zero_value;
};
constexpr std::array<Extras, 11> extras{{
    {Kind::node, "no", node_fields, node_zero},
    {Kind::pod, "po", pod_fields, R"(,"spec":{"containers":null},"status":{})"},
    {Kind::service, "svc", service_fields, R"(,"spec":{},"status":{"loadBalancer":{}})"},
    {Kind::endpoints, "ep", {}, ""},
    {Kind::endpointslice, "", {}, R"(,"addressType":"","endpoints":null,"ports":null)"},
    {Kind::ingress, "ing", {}, R"(,"spec":{},"status":{"loadBalancer":{}})"},
    {Kind::namespace_, "ns", namespace_fields, R"(,"spec":{},"status":{})"},
    {Kind::replicaset, "rs", replicaset_fields,
     R"(,"spec":{"selector":null},"status":{"replicas":0})"},
    {Kind::job, "", job_fields,
     R"(,"spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{})"},
    {Kind::secret, "", secret_fields, ""},
    {Kind::configmap, "cm", {}, ""},
}};

/// What clusters have besides: the workloads of the shop, and what their API groups are older for
/// than for what the library watches.
constexpr std::array<ResourceType, 5> others{{
    {"Deployment", "apps", "v1", "deployments", "deployment", "deploy", true, {}, template_zero},
    {"StatefulSet",
     "apps",
     "v1",
     "statefulsets",
     "statefulset",
     "sts",
     true,
     {},
     R"(,"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},)"
     R"("serviceName":""},"status":{"replicas":0})"},
    {"DaemonSet", "apps", "v1", "daemonsets", "daemonset", "ds", true, {}, template_zero},
    {"CronJob",
     "batch",
     "v1",
     "cronjobs",
     "cronjob",
     "cj",
     true,
     {},
     R"(,"spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{}}},"status":{})"},
    {"NetworkPolicy",
     "networking.k8s.io",
     "v1",
     "networkpolicies",
     "networkpolicy",
     "netpol",
     true,
     {},
     R"(,"spec":{"podSelector":{}})"},
}};

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

/// Every kind that the library watches, and the others.
std::vector<ResourceType> make_table() {
    static std::array<std::string, kind_count> singulars;
    std::vector<ResourceType> table;
    for (std::size_t i = 0; i < kind_count; ++i) {
        const Resource& r = resources[i];
        singulars[i] = lower_case(r.kind);
        table.push_back(
            {r.kind, r.group, r.version, r.plural, singulars[i], {}, r.namespaced, {}, {}});
    }
    for (const Extras& e : extras) {
        ResourceType& type = table[static_cast<std::size_t>(e.kind)];
        type.short_name = e.short_name;
        type.fields = e.fields;
        type.zero_value = e.zero_value;
    }
    table.insert(table.end(), others.begin(), others.end());
    return table;
}

/// A custom type with its texts.
struct CustomType {
    explicit CustomType(const CustomResource& r)
        : resource(r),
          singular(lower_case(r.kind)),
          type{.kind = resource.kind,
               .group = resource.group,
               .version = resource.versions.front(),
               .plural = resource.plural,
               .singular = singular,
               .short_name = {},
               .namespaced = resource.namespaced,
               .fields = {},
               .zero_value = {},
               .custom = true} {}
    CustomType(const CustomType&) = delete;
    CustomType& operator=(const CustomType&) = delete;

    const CustomResource resource;
    const std::string singular;
    const ResourceType type;
};

/// The types of all servers. Thread-safe.
class Types {
 public:
    std::vector<const ResourceType*> all() const {
        const std::lock_guard lock(mutex_);
        std::vector<const ResourceType*> types;
        for (const ResourceType& type : table_) types.push_back(&type);
        for (const CustomType& custom : custom_) types.push_back(&custom.type);
        return types;
    }
    const ResourceType& add(const CustomResource& resource) {
        const std::lock_guard lock(mutex_);
        for (const CustomType& known : custom_) {
            const CustomResource& other = known.resource;
            if (other.group != resource.group || other.plural != resource.plural) continue;
            if (other.kind == resource.kind && other.namespaced == resource.namespaced)
                return known.type;
            throw std::invalid_argument("a server of this process has other " + resource.plural +
                                        "." + resource.group);
        }
        return custom_.emplace_back(resource).type;
    }

 private:
    const std::vector<ResourceType> table_ = make_table();
    mutable std::mutex mutex_;
    std::deque<CustomType> custom_;
};

Types& types() {
    static Types all;
    return all;
}

template <class Predicate>
const ResourceType* find(Predicate predicate) {
    for (const ResourceType* type : types().all()) {
        if (predicate(*type)) return type;
    }
    return nullptr;
}

/// Custom types are one in all their versions.
bool has_version(const ResourceType& type, std::string_view api_version) {
    if (!type.custom) return type.api_version() == api_version;
    return api_version.substr(0, api_version.find('/')) == type.group;
}

void check(const CustomResource& resource) {
    if (resource.group.empty() || resource.kind.empty() || resource.plural.empty() ||
        resource.versions.empty()) {
        throw std::invalid_argument("a custom resource needs a group, a kind, a plural name and "
                                    "a version");
    }
}

}  // namespace

std::vector<const ResourceType*> resource_types() { return types().all(); }

const ResourceType& add_resource_type(const CustomResource& resource) {
    check(resource);
    return types().add(resource);
}

const ResourceType* find_by_plural(std::string_view group, std::string_view plural) {
    return find([&](const ResourceType& t) { return t.group == group && t.plural == plural; });
}

const ResourceType* find_by_kind(std::string_view api_version, std::string_view kind) {
    return find(
        [&](const ResourceType& t) { return t.kind == kind && has_version(t, api_version); });
}

const ResourceType* find_by_name(std::string_view name,
                                 const std::function<bool(const ResourceType&)>& accepts) {
    return find([&](const ResourceType& t) {
        const bool is_it =
            t.plural == name || t.kind == name || (t.custom && t.qualified() == name);
        return is_it && accepts(t);
    });
}

}  // namespace k8s_sd::inline v0::sim
