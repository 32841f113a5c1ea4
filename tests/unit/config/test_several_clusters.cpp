#include "k8s_sd/config.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace k8s_sd::test {
namespace {

std::string problem_with(const DiscoveryConfig& config) {
    try {
        validate(config);
    } catch (const ConfigError& e) {
        return e.what();
    }
    return {};
}

DiscoveryConfig named(const std::string& name, const std::string& label = "cluster") {
    DiscoveryConfig config;
    config.cluster = {name, label};
    return config;
}

constexpr const char* two_contexts = R"(
clusters:
- {name: k1, cluster: {server: "https://one"}}
- {name: k2, cluster: {server: "https://two"}}
contexts:
- {name: prod, context: {cluster: k1}}
- {name: dev, context: {cluster: k2}}
current-context: prod
)";

TEST_CASE("Cluster names: labels that have a meaning of their own are refused") {
    for (const char* label : {"cluster", "region_1", "__meta_cluster", "_x"})
        CHECK(problem_with(named("a", label)) == "");
    for (const char* label : {"job", "instance", "__address__", "__scheme__", "__param_x",
                              "__tmp_x", "__meta_kubernetes_namespace"}) {
        INFO(label);
        CHECK(contains(problem_with(named("a", label)), "cluster.label"));
        CHECK(contains(problem_with(named("a", label)), "__meta_cluster"));
    }
    for (const char* label : {"", "1a", "a-b", "é"})
        CHECK(contains(problem_with(named("a", label)), "is not a name of a label"));
}

TEST_CASE("Cluster names: are UTF-8 of a bounded length, and a label needs one") {
    CHECK(problem_with(named("grün \"1\"")) == "");
    CHECK(contains(problem_with(named("\xff")), "cluster.name"));
    CHECK(contains(problem_with(named(std::string(1025, 'a'))), "cluster.name"));
    CHECK(contains(problem_with(named("", "region")), "needs cluster.name"));
}

TEST_CASE("Cluster names: an empty one makes no difference") {
    DiscoveryConfig config;
    config.api_server.url = "http://one";
    const ResolvedConfig without = resolve(config);
    CHECK(without.view.cluster == ClusterName{});
    config.cluster.name = "a";
    CHECK(resolve(config) != without);
    CHECK(resolve(config).scope == without.scope);
}

TEST_CASE("Cluster names: an entry of kubernetes_sd_configs may have one, with its label") {
    const DiscoveryConfig config =
        parse_sd_config("role: pod\nkubeconfig_file: kc\nkubeconfig_context: prod\ncluster: blue\n"
                        "cluster_label: region\n",
                        LabelDialect::prometheus);
    CHECK(config.kubeconfig_context == "prod");
    CHECK(config.cluster == ClusterName{"blue", "region"});
    const auto problem = [](const std::string& yaml) -> std::string {
        try {
            parse_sd_config(yaml, LabelDialect::victoriametrics, "f.yml");
        } catch (const ConfigError& e) {
            return e.what();
        }
        return {};
    };
    CHECK(contains(problem("role: pod\ncluster: blue\ncluster_label: job\n"),
                   "f.yml:3: cluster_label"));
    CHECK(contains(problem("role: pod\nkubeconfig_context: prod\n"), "f.yml:2"));
}

TEST_CASE("Contexts of a kubeconfig: each is a cluster of its name") {
    TemporaryDirectory directory;
    const std::string file = directory.write("kc", two_contexts);
    const std::string more = directory.write(
        "more",
        "clusters: [{name: k3, cluster: {server: 'https://three'}}]\n"
        "contexts: [{name: lab, context: {cluster: k3}}, {name: dev, context: {cluster: k3}}]\n");
    CHECK(kubeconfig_contexts(file) == std::vector<std::string>{"dev", "prod"});
    CHECK(kubeconfig_contexts(file + ":" + more) == std::vector<std::string>{"dev", "lab", "prod"});

    DiscoveryConfig config;
    config.role = Role::node;
    config.kubeconfig_file = file;
    const auto all = configs_of_contexts(config, {"prod", "dev"});
    REQUIRE(all.size() == 2);
    CHECK(all[0].cluster.name == "prod");
    CHECK(resolve(all[0]).scope.api_server.url == "https://one");
    CHECK(resolve(all[1]).scope.api_server.url == "https://two");
    CHECK(resolve(all[1]).view.cluster.name == "dev");
    CHECK(all[1].role == Role::node);
}

TEST_CASE("Contexts of a kubeconfig: are named once, and not by another name") {
    DiscoveryConfig config;
    const auto problem = [&](const std::vector<std::string>& contexts) -> std::string {
        try {
            configs_of_contexts(config, contexts);
        } catch (const ConfigError& e) {
            return e.what();
        }
        return {};
    };
    CHECK(contains(problem({"a"}), "needs kubeconfig_file"));
    config.kubeconfig_file = "kc";
    CHECK(problem({"a", "b"}) == "");
    CHECK(contains(problem({"a", "a"}), "given twice"));
    config.cluster.name = "x";
    CHECK(contains(problem({"a"}), "cluster.name"));
    config.cluster.name.clear();
    config.kubeconfig_context = "x";
    CHECK(contains(problem({"a"}), "must not be set"));
}

}  // namespace
}  // namespace k8s_sd::test
