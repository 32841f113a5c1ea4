#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "support/contains.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A hub, and a host that follows its inventory.
struct Hub : Simulation {
    Hub() {
        server.add_resource({.group = "multicluster.x-k8s.io",
                             .kind = "ClusterProfile",
                             .plural = "clusterprofiles",
                             .versions = {"v1alpha1"}});
        config.api_server.url = server.url();
    }

    void run() {
        inventory.emplace(context.get_executor(), config, [this](const InventoryDiff& diff) {
            ++diffs;
            log += diff.full ? "full" : "";
            for (const InventoryCluster& cluster : diff.updated)
                log += " ~" + cluster.name + "=" + cluster.api_server.url;
            for (const InventoryCluster& cluster : diff.removed) log += " -" + cluster.name;
            log += ";";
        });
        inventory->async_run(boost::asio::detached);
        settle();
    }
    std::string take_log() {
        settle();
        return std::exchange(log, {});
    }
    InventoryCluster cluster(const std::string& name) const {
        for (InventoryCluster& cluster : inventory->clusters()) {
            if (cluster.name == name) return cluster;
        }
        return {};
    }

    void profile(const std::string& name, const std::string& status = "{}",
                 const std::string& ns = "fleet") {
        server.apply(boost::json::object{
            {"apiVersion", "multicluster.x-k8s.io/v1alpha1"},
            {"kind", "ClusterProfile"},
            {"metadata", boost::json::object{{"namespace", ns}, {"name", name}}},
            {"spec",
             boost::json::parse(R"({"displayName": "D", "clusterManager": {"name": "m"}})")},
            {"status", boost::json::parse(status)}});
    }
    /// \param target  the label for the namespace of the profile
    void secret_for(const std::string& target, const std::string& ns, const std::string& url) {
        server.apply(sim::secret(ns, "s")
                         .label("x-k8s.io/cluster-profile", "blue")
                         .label("x-k8s.io/cluster-profile-namespace", target)
                         .data("Config", kubeconfig(url)));
    }
    void secret(const std::string& name, const std::string& profile, const std::string& content,
                const std::string& key = "Config", const std::string& ns = "fleet") {
        server.apply(sim::secret(ns, name)
                         .label("x-k8s.io/cluster-profile", profile)
                         .label("x-k8s.io/cluster-inventory-consumer", "k8s-sd")
                         .data(key, content));
    }
    void fail_secrets(int times) {
        failures = times;
        server.set_intercept([this](const sim::Request& request) {
            std::optional<sim::Response> answer;
            if (contains(request.target, "/secrets") && failures-- > 0)
                answer = sim::Response::failure(503, "ServiceUnavailable", "later");
            return answer;
        });
    }
    static std::string kubeconfig(const std::string& url, const std::string& user = "token: t") {
        return "clusters: [{name: c, cluster: {server: '" + url +
               "'}}]\nusers: [{name: u, user: {" + user +
               "}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n";
    }

    InventoryConfig config{};
    std::optional<ClusterInventory> inventory;
    std::string log;
    int diffs = 0;
    int failures = 0;
};

}  // namespace

TEST_CASE("ClusterInventory: clusters with Secrets appear, change and go") {
    Hub h;
    h.profile("blue", R"({"properties": [{"name": "region", "value": "north"}],
                          "conditions": [{"type": "ControlPlaneHealthy", "status": "False"}]})");
    h.secret("s", "blue", Hub::kubeconfig("https://blue"));
    h.run();
    CHECK(h.take_log() == "full ~blue=https://blue;");
    const InventoryCluster blue = h.cluster("blue");
    CHECK(blue.ns == "fleet");
    CHECK(blue.display_name == "D");
    CHECK(blue.manager == "m");
    CHECK(blue.properties.at("region") == "north");
    CHECK_FALSE(blue.healthy);
    CHECK(blue.api_server.auth.bearer_token == "t");
    CHECK(blue.api_server.kubeconfig == KubeconfigOrigin{});
    CHECK(blue.problem.empty());

    h.secret("s", "blue", Hub::kubeconfig("https://blue:6443"));
    CHECK(h.take_log() == " ~blue=https://blue:6443;");
    h.secret("g", "green", Hub::kubeconfig("https://green"), "config", "other");
    h.profile("green", "{}", "other");
    CHECK(h.take_log() == " ~green=https://green;");
    h.server.remove("clusterprofiles", "fleet", "blue");
    CHECK(h.take_log() == " -blue;");
    const InventoryStatus status = h.inventory->status();
    CHECK(status.synced);
    CHECK(status.clusters == 1);
    CHECK(status.usable == 1);
}

TEST_CASE("ClusterInventory: failures and lost Secrets leave the last access in use") {
    Hub h;
    h.profile("blue");
    h.secret("s", "blue", Hub::kubeconfig("https://blue"));
    h.run();
    h.take_log();
    h.server.remove("secrets", "fleet", "s");
    CHECK(h.take_log() == " ~blue=https://blue;");
    CHECK(contains(h.cluster("blue").problem,
                   "create a Secret with a kubeconfig in its key Config and the label "
                   "x-k8s.io/cluster-profile=blue"));
    h.secret("s", "blue", "]");
    CHECK(h.take_log() == " ~blue=https://blue;");
    CHECK(contains(h.cluster("blue").problem, "Secret fleet/s"));

    h.server.accept_connections(false);
    h.server.disconnect_all();
    h.advance(10min);
    CHECK(h.take_log() == "");
    CHECK(h.inventory->clusters().size() == 1);
    CHECK(h.inventory->status().profiles.error);
    h.server.accept_connections(true);
    h.secret("s", "blue", Hub::kubeconfig("https://new"));
    h.advance(10min);
    CHECK(h.take_log() == " ~blue=https://new;");
    CHECK(h.cluster("blue").problem.empty());
}

TEST_CASE("ClusterInventory: a Secret names neither programs nor files of this machine") {
    Hub h;
    const std::pair<const char*, const char*> users[] = {
        {"exec", "exec: {apiVersion: client.authentication.k8s.io/v1, command: steal, "
                 "interactiveMode: Never}"},
        {"token", "tokenFile: /etc/passwd"},
        {"key", "client-certificate: c.pem, client-key: /root/key.pem"},
        {"fine", "token: t"}};
    for (const auto& [name, user] : users) {
        h.profile(name);
        h.secret(name, name, Hub::kubeconfig("https://a", user));
    }
    h.run();
    CHECK(h.take_log() == "full ~exec= ~fine=https://a ~key= ~token=;");
    CHECK(contains(h.cluster("exec").problem, "names a program of this machine"));
    CHECK(contains(h.cluster("token").problem, "names a file of this machine"));
    CHECK(contains(h.cluster("key").problem, "names a file of this machine"));
    CHECK(h.inventory->status().usable == 1);
}

TEST_CASE("ClusterInventory: access providers need credentials of the host") {
    Hub h;
    const char* status = R"({"accessProviders": [
        {"name": "unknown", "cluster": {"server": "https://x"}},
        {"name": "cloud", "cluster": {"server": "https://blue:443/", "tls-server-name": "kube",
         "extensions": [{"name": "client.authentication.k8s.io/exec",
                         "extension": {"clusterName": "b"}}]}}]})";
    h.profile("blue", status);
    h.profile("red", R"({"credentialProviders": [{"name": "unknown", "cluster": 1}]})");
    h.config.secrets = false;
    AuthConfig auth;
    auth.exec = ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                           .command = "cloud-login",
                           .provide_cluster_info = true};
    h.config.access_providers["cloud"] = auth;
    h.run();
    CHECK(h.take_log() == "full ~blue=https://blue ~red=;");
    const ApiServerConfig blue = h.cluster("blue").api_server;
    CHECK(blue.tls.server_name == "kube");
    CHECK(blue.auth.exec->command == "cloud-login");
    CHECK(blue.auth.exec->cluster_server == "https://blue:443/");
    CHECK(blue.auth.exec->cluster_extension == R"({"clusterName":"b"})");
    CHECK(contains(h.cluster("red").problem, "access providers unknown"));
    CHECK(contains(h.cluster("red").problem, "access_providers"));
    CHECK_FALSE(contains(h.cluster("red").problem, "Secret"));
}

TEST_CASE("ClusterInventory: Secrets that may not be read do not hold back other clusters") {
    Hub h;
    h.server.deny("secrets");
    h.profile("blue",
              R"({"accessProviders": [{"name": "p", "cluster": {"server": "https://b"}}]})");
    h.profile("green");
    h.config.access_providers["p"].bearer_token = "t";
    h.run();
    CHECK(h.take_log() == "full ~blue=https://b ~green=;");
    CHECK(contains(h.cluster("green").problem, "Secrets cannot be read"));
    CHECK(h.inventory->status().secrets.error == errc::forbidden);
    h.server.allow("secrets");
    h.secret("s", "green", Hub::kubeconfig("https://green"));
    h.advance(5min);
    CHECK(h.take_log() == " ~green=https://green;");
}

TEST_CASE("ClusterInventory: consumers, namespaces and labels select Secrets and profiles") {
    Hub h;
    h.config.namespaces = {"fleet"};
    h.config.secret_namespaces = {"mine"};
    h.config.consumer = "k8s-sd";
    h.profile("blue");
    h.profile("other", "{}", "elsewhere");
    h.secret("s", "blue", Hub::kubeconfig("https://wrong"));
    h.secret("s", "blue", Hub::kubeconfig("https://right"), "Config", "mine");
    h.run();
    CHECK(h.take_log() == "full ~blue=https://right;");
    const std::vector<AccessRule> rules = required_access(h.config);
    REQUIRE(rules.size() == 2);
    CHECK(rule_text(rules[0]) ==
          R"({apiGroups: ["multicluster.x-k8s.io"], resources: ["clusterprofiles"], )"
          R"(verbs: ["list", "watch"]})");
    CHECK(rules[0].ns == "fleet");
    CHECK(rules[1].ns == "mine");
}

TEST_CASE("ClusterInventory: a Secret cannot take over a cluster of another namespace") {
    Hub h;
    h.profile("blue");
    h.secret_for("fleet", "a", "https://evil");
    h.run();
    CHECK(h.take_log() == "full ~blue=;");
    h.secret("s", "blue", Hub::kubeconfig("https://right"));
    CHECK(h.take_log() == " ~blue=https://right;");
    h.secret_for("fleet", "a", "https://evil:2");
    h.server.remove("secrets", "fleet", "s");
    CHECK(h.take_log() == " ~blue=https://right;");
}

TEST_CASE("ClusterInventory: Secrets of configured namespaces name the namespace of a cluster") {
    Hub h;
    h.config.secret_namespaces = {"a", "fleet", "z"};
    h.profile("blue");
    h.profile("blue", "{}", "other");
    h.secret_for("fleet", "a", "https://a");
    h.secret_for("fleet", "z", "https://z");
    h.run();
    CHECK(h.take_log() == "full ~blue=https://a ~blue=;");
    h.secret_for("fleet", "fleet", "https://own");
    CHECK(h.take_log() == " ~blue=https://own;");
    h.server.remove("secrets", "fleet", "s");
    CHECK(h.take_log() == " ~blue=https://a;");
    // Without a namespace it fits both profiles, and the one with the namespace comes first.
    h.secret("s", "blue", Hub::kubeconfig("https://any"), "Config", "z");
    CHECK(h.take_log() == " ~blue=https://any;");
    h.server.remove("secrets", "a", "s");
    CHECK(h.take_log() == " ~blue=https://any;");
}

TEST_CASE("ClusterInventory: a recreated ClusterProfile has no access of the old one") {
    Hub h;
    h.profile("blue");
    h.secret("s", "blue", Hub::kubeconfig("https://old"));
    h.run();
    CHECK(h.take_log() == "full ~blue=https://old;");
    const std::string uid = h.cluster("blue").uid;
    CHECK_FALSE(uid.empty());
    h.server.remove("secrets", "fleet", "s");
    CHECK(h.take_log() == " ~blue=https://old;");
    h.server.remove("clusterprofiles", "fleet", "blue");
    h.profile("blue");
    CHECK(contains(h.take_log(), "~blue=;"));
    CHECK(h.cluster("blue").uid != uid);

    // The same without events: the next list has the new object.
    h.secret("s", "blue", Hub::kubeconfig("https://second"));
    CHECK(h.take_log() == " ~blue=https://second;");
    h.server.remove("secrets", "fleet", "s");
    h.take_log();
    h.server.accept_connections(false);
    h.server.disconnect_all();
    h.settle();
    h.server.remove("clusterprofiles", "fleet", "blue");
    h.profile("blue");
    h.server.accept_connections(true);
    h.advance(10min);
    CHECK(contains(h.take_log(), "~blue=;"));
    CHECK(h.inventory->clusters().size() == 1);
}

TEST_CASE("ClusterInventory: a short failure of Secrets does not make the first diff") {
    Hub h;
    h.profile("blue");
    h.secret("s", "blue", Hub::kubeconfig("https://blue"));
    h.fail_secrets(1);
    h.run();
    CHECK(h.take_log() == "");
    h.advance(1min);
    CHECK(h.take_log() == "full ~blue=https://blue;");
}

TEST_CASE("ClusterInventory: Secrets that fail for long do not hold back other clusters") {
    Hub h;
    h.profile("blue");
    h.fail_secrets(1000);
    h.run();
    h.advance(10min);
    CHECK(h.take_log() == "full ~blue=;");
    CHECK(contains(h.cluster("blue").problem, "Secrets cannot be read"));
}

TEST_CASE("ClusterInventory: heartbeats of conditions are no changes") {
    Hub h;
    const auto beat = [&](int time) {
        h.profile("blue", R"({"conditions": [{"type": "ControlPlaneHealthy", "status": "True",
                              "lastTransitionTime": ")" +
                              std::to_string(time) + R"("}]})");
    };
    beat(0);
    h.secret("s", "blue", Hub::kubeconfig("https://blue"));
    h.run();
    h.take_log();
    for (int i = 1; i < 5; ++i) {
        beat(i);
        CHECK(h.take_log() == "");
    }
    CHECK(h.cluster("blue").healthy);
}

TEST_CASE("ClusterInventory: credentials are not sent without TLS or to an unverified server") {
    Hub h;
    h.profile("http", R"({"accessProviders": [{"name": "p", "cluster": {"server": "http://a"}}]})");
    h.profile("skip", R"({"accessProviders": [{"name": "p", "cluster": {"server": "https://a",
                          "insecure-skip-tls-verify": true}}]})");
    h.profile("secret");
    h.secret("s", "secret", Hub::kubeconfig("http://a"));
    h.profile("plain");
    h.secret("plain", "plain",
             "clusters: [{name: c, cluster: {server: 'http://a'}}]\ncontexts: [{name: c, context: "
             "{cluster: c}}]\ncurrent-context: c\n");
    h.config.access_providers["p"].bearer_token = "t";
    h.run();
    CHECK(h.take_log() == "full ~http= ~plain=http://a ~secret= ~skip=;");
    for (const char* name : {"http", "secret", "skip"}) {
        INFO(name);
        CHECK(contains(h.cluster(name).problem, "embed certificate-authority-data"));
    }
}

TEST_CASE("ClusterInventory: problems, properties and names are bounded") {
    Hub h;
    std::string providers, properties;
    for (int i = 0; i < 300; ++i) {
        const std::string name = R"({"name": "p)" + std::to_string(1000 + i) + "\"}";
        (providers += providers.empty() ? "" : ",") += name;
        (properties += properties.empty() ? "" : ",") += name;
    }
    h.profile("blue",
              "{\"accessProviders\": [" + providers + "], \"properties\": [" + properties + "]}");
    h.profile(std::string(64, 'x'));
    h.run();
    const InventoryCluster blue = h.cluster("blue");
    CHECK(blue.properties.size() == 100);
    CHECK(contains(blue.problem, "p1009 and 290 more"));
    CHECK_FALSE(contains(blue.problem, "p1010"));
    CHECK(contains(h.cluster(std::string(64, 'x')).problem, "at most 63 characters"));
}

TEST_CASE("ClusterInventory: names of configurations are those of the profiles") {
    DiscoveryConfig pods;
    const auto cluster = [](const std::string& ns, const std::string& name,
                            const std::string& url) {
        InventoryCluster made;
        made.ns = ns;
        made.name = name;
        made.api_server.url = url;
        return made;
    };
    const auto configs =
        configs_of_clusters(pods, {cluster("a", "x", "https://1"), cluster("a", "y", "https://2"),
                                   cluster("b", "x", "https://3"), cluster("b", "z", "")});
    REQUIRE(configs.size() == 3);
    CHECK(configs[0].cluster.name == "a/x");
    CHECK(configs[1].cluster.name == "a/y");
    CHECK(configs[2].cluster.name == "b/x");
    CHECK(configs[2].kubeconfig_file.empty());
    CHECK_NOTHROW(validate(configs[2]));
    // Options that would be ignored.
    pods.api_server.proxy.url = "http://proxy";
    CHECK_THROWS_AS(configs_of_clusters(pods, {}), ConfigError);
    pods.api_server = {};
    pods.cluster.name = "blue";
    CHECK_THROWS_AS(configs_of_clusters(pods, {}), ConfigError);
}

TEST_CASE("ClusterInventory: unusable options name the field") {
    Hub h;
    const auto problem = [&]() -> std::string {
        try {
            const ClusterInventory inventory(h.context.get_executor(), h.config,
                                             [](const InventoryDiff&) {});
        } catch (const ConfigError& e) {
            return e.what();
        }
        return {};
    };
    CHECK(problem() == "");
    h.config.access_providers["p"].username = "a:b";
    CHECK(contains(problem(), "access_providers[p]"));
    h.config.access_providers.clear();
    h.config.access_providers[""] = {};
    CHECK(contains(problem(), "without a name"));
    h.config.access_providers.clear();
    for (const char* consumer : {"a,b in (c)", "a b", "!", "b)"}) {
        h.config.consumer = consumer;
        CHECK(problem().starts_with("consumer"));
    }
    h.config.consumer.clear();
    h.config.secret_namespaces = {"a", "B"};
    CHECK(contains(problem(), "secret_namespaces[1]"));
    h.config.secret_namespaces.clear();
    h.config.label_selector = "a in (";
    CHECK(contains(problem(), "label_selector"));
}

TEST_CASE("ClusterInventory: hostile objects make a problem, not an error") {
    Hub h;
    for (const char* status :
         {"[]", "7", R"({"accessProviders": 3})", R"({"accessProviders": [null, {}, {"name": 1}]})",
          R"({"properties": [{"name": ["x"]}, 5], "conditions": {"type": "x"}})",
          R"({"accessProviders": [{"name": "p", "cluster": {"server": "ftp://x"}}]})",
          R"({"accessProviders": [{"name": "p", "cluster": {"server": "https://a",
              "certificate-authority": "/etc/passwd"}}]})"}) {
        INFO(status);
        h.profile("p" + std::to_string(h.server.count("clusterprofiles")), status);
    }
    h.config.access_providers["p"].bearer_token = "t";
    h.run();
    const auto clusters = h.inventory->clusters();
    CHECK(clusters.size() == 7);
    for (const InventoryCluster& cluster : clusters) {
        CHECK_FALSE(cluster.problem.empty());
        CHECK(cluster.api_server.url.empty());
    }
}

TEST_CASE("ClusterInventory: may be destroyed in its callback, and before its end") {
    Hub h;
    h.profile("blue");
    std::optional<ClusterInventory> inventory;
    int calls = 0;
    inventory.emplace(h.context.get_executor(), h.config, [&](const InventoryDiff&) {
        ++calls;
        inventory.reset();
    });
    inventory->async_run(boost::asio::detached);
    h.settle();
    CHECK(calls == 1);
    h.profile("green");
    h.advance(1min);
    CHECK(calls == 1);
    CHECK(h.server.open_watches() == 0);

    h.run();
    h.inventory->cancel();
    h.settle();
    CHECK(h.inventory->status().synced);
    ClusterInventory never(h.context.get_executor(), h.config, [](const InventoryDiff&) {});
    never.cancel();
    h.settle();
    CHECK(h.server.open_watches() == 0);
}
