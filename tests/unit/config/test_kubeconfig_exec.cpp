#include "support/contains.hpp"
#include "unit/config/kubeconfig_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// A user with a v1beta1 plugin and these additional keys.
std::string plugin(const std::string& keys) {
    return "exec: {apiVersion: client.authentication.k8s.io/v1beta1, " + keys + "}";
}

ExecConfig read_plugin(const std::string& keys, const std::string& cluster = https_server) {
    return read_config(one_context(cluster, plugin(keys))).auth.exec.value();
}

std::string extended(const std::string& extension) {
    return std::string(https_server) +
           ", extensions: [{name: other, extension: [1]}, {name: client.authentication.k8s.io/exec,"
           " extension: " +
           extension + "}]";
}

std::string extension(const std::string& yaml) {
    return read_plugin("command: p, provideClusterInfo: true", extended(yaml)).cluster_extension;
}

}  // namespace

TEST_CASE("kubeconfig: a credential plugin is read with all that it has") {
    const ExecConfig exec =
        read_user_config(
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, args: [eks, "
            "get-token, --cluster-name, shop], env: [{name: AWS_PROFILE, value: p=q}, {name: X}], "
            "installHint: 'install aws', interactiveMode: Never, provideClusterInfo: false}")
            .auth.exec.value();
    CHECK(exec == ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                             .command = "aws",
                             .args = {"eks", "get-token", "--cluster-name", "shop"},
                             .env = {{"AWS_PROFILE", "p=q"}, {"X", ""}},
                             .install_hint = "install aws",
                             .interactive_mode = ExecConfig::InteractiveMode::never});
}

TEST_CASE("kubeconfig: keys of a plugin that kubectl writes as null are those that are missing") {
    const ExecConfig exec = read_plugin("command: p, args: null, env: null, installHint: null");
    CHECK(exec ==
          ExecConfig{.api_version = "client.authentication.k8s.io/v1beta1", .command = "p"});
}

TEST_CASE("kubeconfig: a plugin's command is looked for beside the file if it has a slash") {
    CHECK(read_plugin("command: ./bin/p").command == "/etc/k8s/./bin/p");
    CHECK(read_plugin("command: bin/p").command == "/etc/k8s/bin/p");
    CHECK(read_plugin("command: /bin/p").command == "/bin/p");
    CHECK(read_plugin("command: p").command == "p");
}

TEST_CASE("kubeconfig: a plugin of v1 says whether it is interactive, one of v1beta1 need not") {
    using enum ExecConfig::InteractiveMode;
    CHECK(read_plugin("command: p").interactive_mode == if_available);
    CHECK(read_plugin("command: p, interactiveMode: IfAvailable").interactive_mode == if_available);
    CHECK(read_plugin("command: p, interactiveMode: Never").interactive_mode == never);
    CHECK(user_problem("exec: {apiVersion: client.authentication.k8s.io/v1, command: p}") ==
          "kc:10: users[0].user.exec.interactiveMode: is missing, and "
          "client.authentication.k8s.io/v1 requires it; set IfAvailable or Never");
    CHECK(user_problem(plugin("command: p, interactiveMode: never")) ==
          "kc:10: users[0].user.exec.interactiveMode: must be Never, IfAvailable or Always");
    CHECK(user_problem(plugin("command: p, interactiveMode: Always")) ==
          "kc:10: users[0].user.exec.interactiveMode: Always: the program prompts the user at a "
          "terminal, and there is none; if it works without one, set IfAvailable, else use other "
          "credentials, such as a token of a service account (kubectl create token NAME)");
}

TEST_CASE("kubeconfig: what is wrong with a plugin is said with what would be right") {
    const std::pair<const char*, const char*> cases[] = {
        {"exec: {}", "apiVersion: is missing; allowed are client.authentication.k8s.io/v1 and"},
        {"exec: {apiVersion: v1}", "apiVersion: must be client.authentication.k8s.io/v1 or"},
        {"exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: aws}",
         "apiVersion: v1alpha1 is not supported, nor by kubectl since 1.24; update"},
        {"exec: {apiVersion: client.authentication.k8s.io/v1}", "command: is missing"},
        {"exec: {apiVersion: client.authentication.k8s.io/v1, command: \"a\\0b\"}",
         "command: must not contain a NUL character"},
    };
    for (const auto& [user, expected] : cases) {
        INFO(user);
        CHECK(user_problem(user).starts_with(std::string("kc:10: users[0].user.exec.") + expected));
    }
    for (const char* name : {"''", "a=b", "null"}) {
        const std::string env = "command: p, env: [{name: " + std::string(name) + ", value: v}]";
        CHECK(user_problem(plugin(env)) == "kc:10: users[0].user.exec.env[0].name: must be the "
                                           "name of an environment variable");
    }
    CHECK(user_problem(plugin("command: p, args: x")) ==
          "kc:10: users[0].user.exec.args: must be a list");
    const std::string secret =
        user_problem(plugin("command: p, env: [{name: A, value: \"s\\0\"}]"));
    CHECK(secret == "kc:10: users[0].user.exec.env[0].value: must not contain a NUL character");
    CHECK(user_problem("exec: sesame") ==
          "kc:10: users[0].user.exec: must be a mapping of keys to values");
}

TEST_CASE("kubeconfig: a plugin is not used where there are other credentials") {
    const std::string exec = ", " + plugin("command: p");
    for (const char* other :
         {"token: t", "tokenFile: f", "username: u", "client-certificate: c, client-key: k"}) {
        INFO(other);
        CHECK(read_user_config(other).auth == read_user_config(other + exec).auth);
    }
    CHECK(read_user_config("as: somebody" + exec).auth.exec);
}

TEST_CASE("kubeconfig: a plugin gets the extension of the cluster as JSON if it wants it") {
    CHECK(read_plugin("command: p", extended("{a: b}")).cluster_extension == "");
    CHECK(read_plugin("command: p", extended("{a: b}")).provide_cluster_info == false);
    CHECK(read_plugin("command: p, provideClusterInfo: true").cluster_extension == "");
    CHECK(extension("{audience: shop, n: [1, 2.5, -3, true, no, null, ~, '1', \"yes\", 1a]}") ==
          R"({"audience":"shop","n":[1,2.5,-3,true,false,null,null,"1","yes","1a"]})");
    CHECK(extension("text") == R"("text")");
    CHECK(extension("null") == "null");
}

TEST_CASE("kubeconfig: a plugin that wants the cluster gets its server as it is written") {
    const std::string server = "server: 'HTTPS://Cluster.Example:6443/'";
    CHECK(read_plugin("command: p", server).cluster_server == "");
    CHECK(read_plugin("command: p, provideClusterInfo: true", server).cluster_server ==
          "HTTPS://Cluster.Example:6443/");
    CHECK(extension("{f: 1.0, e: 1e3, big: 12345678901234567890}") ==
          R"({"f":1.0,"e":1e3,"big":12345678901234567890})");
}

TEST_CASE("kubeconfig: an extension that never ends is an error") {
    const auto problem = [](const std::string& yaml) {
        return problem_of(
            one_context(extended(yaml), plugin("command: p, provideClusterInfo: true")));
    };
    CHECK(contains(problem("&a [*a]"), "is nested too deeply"));
    CHECK(contains(problem("&a {b: *a}"), "is nested too deeply"));
    std::string laughs = "[&a0 [x, x, x, x, x, x, x, x, x, x]";
    for (int i = 1; i < 8; ++i) {
        laughs += ", &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) laughs += (k ? ", *a" : "*a") + std::to_string(i - 1);
        laughs += "]";
    }
    CHECK(contains(problem(laughs + "]"), "has too many values"));
    std::string texts = "[&a " + std::string(2000, 'x');
    for (int i = 0; i < 1000; ++i) texts += ", *a";
    CHECK(contains(problem(texts + "]"), "is too large"));
}
