#include "k8s_sd/access.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;

namespace {

/// "pods in all namespaces", "nodes (optional)".
std::vector<std::string> words(const DiscoveryConfig& config) {
    std::vector<std::string> texts;
    for (const AccessRule& rule : required_access(config))
        texts.push_back(to_string(rule) + (rule.optional ? " (optional)" : ""));
    return texts;
}
using Texts = std::vector<std::string>;

DiscoveryConfig config_of(Role role, std::vector<std::string> namespaces = {}) {
    DiscoveryConfig config;
    config.role = role;
    config.namespaces = std::move(namespaces);
    return config;
}

using detail::YamlValue;

/// The documents of a manifest; each begins with "---".
std::vector<YamlValue> documents_of(const std::string& manifest) {
    std::vector<YamlValue> documents;
    for (std::size_t begin = 0; begin < manifest.size();) {
        const std::size_t end = std::min(manifest.find("\n---\n", begin), manifest.size() - 1) + 1;
        documents.push_back(YamlValue::parse(manifest.substr(begin, end - begin), "manifest"));
        begin = end;
    }
    return documents;
}

}  // namespace

TEST_CASE("Required access: what each role reads") {
    CHECK(words(config_of(Role::node)) == Texts{"nodes"});
    CHECK(words(config_of(Role::pod)) == Texts{"pods in all namespaces"});
    CHECK(words(config_of(Role::service)) == Texts{"services in all namespaces"});
    CHECK(words(config_of(Role::endpoints)) == Texts{"endpoints in all namespaces",
                                                     "pods in all namespaces",
                                                     "services in all namespaces"});
    CHECK(words(config_of(Role::endpointslice)) ==
          Texts{"pods in all namespaces", "services in all namespaces",
                "endpointslices (API group discovery.k8s.io) in all namespaces"});
    CHECK(words(config_of(Role::ingress)) ==
          Texts{"ingresses (API group networking.k8s.io) in all namespaces"});
    CHECK(words(config_of(Role::gateway)) ==
          Texts{"gateways (API group gateway.networking.k8s.io) in all namespaces"});
    CHECK(words(config_of(Role::httproute)) ==
          Texts{"gateways (API group gateway.networking.k8s.io) in all namespaces",
                "httproutes (API group gateway.networking.k8s.io) in all namespaces"});
}

TEST_CASE("Required access: it is what the watches of a role are started for") {
    for (const std::string_view name : role_names) {
        const Role role = *role_from_string(name);
        DiscoveryConfig config = config_of(role);
        config.attach_metadata = {true, role != Role::node, true, true, true};
        std::set<std::string> needed, granted;
        for (const Kind kind : detail::needed_kinds(role, config.attach_metadata))
            needed.emplace(to_string(kind));
        for (const AccessRule& rule : required_access(config)) granted.insert(rule.resource);
        CHECK(granted == needed);
    }
}

TEST_CASE("Required access: namespaces are those of the configuration, nodes are in none") {
    DiscoveryConfig config = config_of(Role::pod, {"b", "a", "b"});
    config.attach_metadata.node = config.attach_metadata.namespace_ = true;
    CHECK(words(config) ==
          Texts{"namespaces", "nodes", "pods in the namespace a", "pods in the namespace b"});
    config.namespaces.emplace_back();  // all of them
    CHECK(words(config) == Texts{"namespaces", "nodes", "pods in all namespaces"});
}

TEST_CASE("Required access: the own namespace is not known, and shown as what it is") {
    DiscoveryConfig config = config_of(Role::pod, {"a"});
    config.own_namespace = true;
    CHECK(words(config) ==
          Texts{"pods in the namespace of the program's pod", "pods in the namespace a"});
    // this dialect uses it only if it is the only one
    config.dialect = LabelDialect::victoriametrics;
    CHECK(words(config) == Texts{"pods in the namespace a"});
}

TEST_CASE("Required access: one watch of many namespaces is optional") {
    DiscoveryConfig config = config_of(Role::pod, {"a", "b", "c"});
    config.watch.cluster_wide_from = 3;
    config.attach_metadata.node = true;
    CHECK(words(config) == Texts{"nodes", "pods in all namespaces (optional)",
                                 "pods in the namespace a", "pods in the namespace b",
                                 "pods in the namespace c"});
    config.watch.cluster_wide_from = 4;
    CHECK(words(config).size() == 4);
}

TEST_CASE("Required access: a configuration that cannot work is refused") {
    CHECK_THROWS_AS(required_access(config_of(Role::pod, {"No Namespace"})), ConfigError);
}

TEST_CASE("RBAC manifest: rights in all namespaces are a ClusterRole") {
    CHECK(rbac_manifest(required_access(config_of(Role::endpointslice))) == R"(---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: "k8s-sd"
  namespace: "default"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "k8s-sd:default:k8s-sd"
rules:
- {apiGroups: [""], resources: ["pods", "services"], verbs: ["list", "watch"]}
- {apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: "k8s-sd:default:k8s-sd"
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: "k8s-sd:default:k8s-sd"
subjects:
- kind: ServiceAccount
  name: "k8s-sd"
  namespace: "default"
)");
}

TEST_CASE("RBAC manifest: no role is called as one that is there already") {
    const auto names = [](const std::string& ns, const std::string& account) {
        RbacOptions options;
        options.service_account_namespace = ns;
        options.service_account = account;
        DiscoveryConfig config = config_of(Role::pod, {"shop"});
        config.attach_metadata.node = true;
        std::set<std::string> found;
        for (const YamlValue& document :
             documents_of(rbac_manifest(required_access(config), options))) {
            if (document["kind"].string() != "ServiceAccount")
                found.insert(document["metadata"]["name"].string());
        }
        return found;
    };
    using Names = std::set<std::string>;
    CHECK(names("kube-system", "cluster-admin") == Names{"k8s-sd:kube-system:cluster-admin"});
    CHECK(names("a", "targets") != names("b", "targets"));
}

TEST_CASE("RBAC manifest: rights in a namespace are a Role there, and optional ones are comments") {
    DiscoveryConfig config = config_of(Role::pod, {"shop"});
    config.own_namespace = true;
    config.watch.cluster_wide_from = 2;
    RbacOptions options;
    options.name = "targets";
    options.service_account = "prom";
    options.service_account_namespace = "monitoring";
    options.with_service_account = false;
    const std::string role_of = R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: "targets"
  namespace: "NS"
rules:
- {apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: "targets"
  namespace: "NS"
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: "targets"
subjects:
- kind: ServiceAccount
  name: "prom"
  namespace: "monitoring"
)";
    const auto in = [&](const std::string& ns) {
        std::string text = role_of;
        for (std::size_t at = 0; (at = text.find("NS", at)) != std::string::npos;)
            text.replace(at, 2, ns);
        return text;
    };
    const std::string manifest = rbac_manifest(required_access(config), options);
    CHECK(manifest.starts_with(in("monitoring") + in("shop") + "# Optional: "));
    const std::string optional = manifest.substr(manifest.find("# ---\n"));
    std::string uncommented;
    for (std::size_t at = 0; at < optional.size();) {
        const std::size_t end = optional.find('\n', at);
        REQUIRE(optional.substr(at, 2) == "# ");
        uncommented += optional.substr(at + 2, end - at - 1);
        at = end + 1;
    }
    const auto documents = documents_of(uncommented);
    REQUIRE(documents.size() == 2);
    CHECK(documents[0]["kind"].string() == "ClusterRole");
    CHECK(documents[0]["metadata"]["name"].string() == "targets-all-namespaces");
    CHECK(documents[1]["roleRef"]["name"].string() == "targets-all-namespaces");
}

TEST_CASE("RBAC manifest: it is YAML, whatever a namespace is called") {
    const std::vector<std::string> names{"true", "null", "123", "1e3", "0x10", "a-b", "no"};
    const auto documents =
        documents_of(rbac_manifest(required_access(config_of(Role::endpoints, names))));
    REQUIRE(documents.size() == 1 + 2 * names.size());
    std::set<std::string> found;
    for (std::size_t i = 1; i < documents.size(); i += 2) {
        const YamlValue& role = documents[i];
        CHECK(role["kind"].string() == "Role");
        CHECK_FALSE(role["metadata"]["namespace"].is_plain());
        found.insert(role["metadata"]["namespace"].string());
        const YamlValue rule = role["rules"].items()[0];
        CHECK(rule["apiGroups"].items()[0].string().empty());
        CHECK(rule["resources"].items().size() == 3);
        CHECK(rule["verbs"].items()[1].string() == "watch");
        CHECK(documents[i + 1]["kind"].string() == "RoleBinding");
    }
    CHECK(found == std::set<std::string>(names.begin(), names.end()));
}

TEST_CASE("RBAC manifest: names that cannot be ones are refused") {
    const auto rules = required_access(config_of(Role::pod));
    for (const std::string name : {"", "A", "a b", "a\nb", "-a", "a\"", "(own)"}) {
        CAPTURE(name);
        RbacOptions options;
        options.service_account = name;
        CHECK_THROWS_AS(rbac_manifest(rules, options), ConfigError);
        options = {};
        options.name = name.empty() ? ":" : name;
        CHECK_THROWS_AS(rbac_manifest(rules, options), ConfigError);
        options = {};
        options.service_account_namespace = name;
        CHECK_THROWS_AS(rbac_manifest(rules, options), ConfigError);
        if (name.empty() || name == "(own)") continue;
        CHECK_THROWS_AS(rbac_manifest({access_to(Kind::pod, name)}), ConfigError);
    }
    RbacOptions options;
    options.service_account_namespace = "a.b";
    CHECK_THROWS_AS(rbac_manifest(rules, options), ConfigError);
    options = {};
    options.name = "a.b";
    CHECK_NOTHROW(rbac_manifest(rules, options));
}
