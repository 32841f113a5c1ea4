// Compares this library's reading of a kubeconfig with kubectl's. kubectl writes most of the files
// itself.

#include "differential/command.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

/// Files, and the commands to write and to read them.
struct Case {
    const char* name;
    std::vector<std::string> commands;  ///< arguments of "kubectl config", below the directory
    std::string list = "kc";            ///< as $KUBECONFIG, with names below the directory
    std::string text = {};              ///< of kc, before the commands
};

const std::string cluster = "set-cluster k --server=https://API.example.com:443/prefix/ ";
const std::string context = "set-context c --cluster=k --user=u --namespace=n";
const std::string user = "set-credentials u ";

std::vector<Case> cases() {
    const std::vector<std::string> end{user, context, "use-context c"};
    const auto with = [&](std::vector<std::string> commands) {
        commands.insert(commands.end(), end.begin(), end.end());
        return commands;
    };
    const std::string first = "--kubeconfig=1/kc ", second = "--kubeconfig=2/kc ";
    return {
        {"token", with({cluster, user + "--token=abc"})},
        {"no user", {cluster, "set-context c --cluster=k", "use-context c"}},
        {"CA in a file", with({cluster + "--certificate-authority=pki/ca.crt"})},
        {"CA in line", with({cluster + "--certificate-authority=pki/ca.crt --embed-certs"})},
        {"cluster options", with({cluster + "--insecure-skip-tls-verify --tls-server-name=api "
                                            "--proxy-url=socks5://user:word@proxy:1080",
                                  "set clusters.k.disable-compression true"})},
        {"client certificate in files",
         with({cluster, user + "--client-certificate=pki/c.crt --client-key=pki/c.key"})},
        {"client certificate in line",
         with({cluster, user + "--client-certificate=pki/c.crt --client-key=pki/c.key "
                               "--embed-certs"})},
        {"password", with({cluster, user + "--username=u --password='p\"w: #'"})},
        {"token file", with({cluster, "set users.u.tokenFile token"})},
        {"token and its file",
         with({cluster, user + "--token=abc", "set users.u.tokenFile token"})},
        {"impersonation", with({cluster, user + "--token=abc", "set users.u.act-as jane",
                                "set users.u.act-as-uid 7"})},
        {"groups and extra fields", with({cluster}), "kc",
         "users: [{name: u, user: {token: a, as: jane, as-groups: [dev, ops], as-user-extra: "
         "{reason: [a, b]}}}]"},
        {"an extension for the plugin",
         {"use-context c"},
         "kc",
         "{clusters: [{name: k, cluster: {server: 'https://h', extensions: [{name: "
         "client.authentication.k8s.io/exec, extension: {a: [1, -2, 1.5, true, off, null, 'no', "
         "x]}}]}}], contexts: [{name: c, context: {cluster: k, user: u}}], users: [{name: u, user: "
         "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: p, "
         "provideClusterInfo: true}}}]}"},
        {"plugin of v1",
         with({cluster,
               user + "--exec-command=my-plugin --exec-api-version=client.authentication.k8s.io/v1 "
                      "--exec-arg=eks --exec-arg=get-token --exec-env=A=b=c "
                      "--exec-interactive-mode=Never --exec-provide-cluster-info"})},
        {"plugin of v1beta1",
         with({cluster, user + "--exec-command=/usr/bin/p "
                               "--exec-api-version=client.authentication.k8s.io/v1beta1"})},
        {"plain http", with({"set-cluster k --server=http://127.0.0.1:8001", user + "--token=abc",
                             "set users.u.act-as jane"})},
        {"IPv6", with({"set-cluster k --server=https://[fd00::1]:6443"})},
        {"several contexts",
         with({"set-cluster other --server=https://other", "set-credentials other --token=x",
               "set-context o --cluster=other --user=other", cluster, user + "--token=abc"})},
        {"two files",
         {first + "set-cluster k --server=https://first --certificate-authority=1/../pki/ca.crt",
          first + context, second + "set-cluster k --server=https://second",
          second + user + "--client-certificate=pki/c.crt --client-key=pki/c.key",
          second + "set-context c --cluster=none", second + "use-context c"},
         "none:1/kc:2/kc"},
        {"the first user wins as a whole",
         {first + cluster, first + user + "--username=first --password=w",
          second + user + "--token=second", second + context, second + "use-context c"},
         "1/kc:2/kc"},
        {"an empty file first",
         {second + cluster, second + user + "--token=second", second + context,
          second + "use-context c"},
         "empty:2/kc"},
    };
}

std::string content_or_nothing(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// kubectl has inlined the contents of the files.
std::string pem(const std::string& text, const std::string& file) {
    return file.empty() ? text : content_or_nothing(file);
}

void put(json::object& object, std::string_view key, const std::string& value) {
    if (!value.empty()) object[key] = value;
}

json::value json_of(const ExecConfig& exec) {
    using enum ExecConfig::InteractiveMode;
    json::array env;
    for (const ExecConfig::Variable& variable : exec.env)
        env.push_back(json::object{{"name", variable.name}, {"value", variable.value}});
    return json::object{
        {"apiVersion", exec.api_version},
        {"command", exec.command},
        {"args", json::array(exec.args.begin(), exec.args.end())},
        {"env", std::move(env)},
        {"provideClusterInfo", exec.provide_cluster_info},
        {"interactiveMode", exec.interactive_mode == never ? "Never" : "IfAvailable"}};
}

/// The result of this library, with kubectl's field names.
json::object ours(const ApiServerConfig& server, const std::string& directory) {
    json::object o{{"server", server.url}};
    put(o, "proxy-url", server.proxy.url);
    put(o, "tls-server-name", server.tls.server_name);
    if (server.tls.insecure_skip_verify) o["insecure-skip-tls-verify"] = true;
    if (server.disable_compression) o["disable-compression"] = true;
    put(o, "certificate-authority-data", pem(server.tls.ca, server.tls.ca_file));
    put(o, "client-certificate-data", pem(server.tls.cert, server.tls.cert_file));
    put(o, "client-key-data", pem(server.tls.key, server.tls.key_file));
    put(o, "token", server.auth.bearer_token);
    if (!server.auth.bearer_token_file.empty())
        o["tokenFile"] =
            std::filesystem::relative(server.auth.bearer_token_file, directory).string();
    put(o, "username", server.auth.username);
    put(o, "password", server.auth.password);
    put(o, "as", server.impersonate.user);
    put(o, "as-uid", server.impersonate.uid);
    if (!server.impersonate.groups.empty())
        o["as-groups"] =
            json::array(server.impersonate.groups.begin(), server.impersonate.groups.end());
    for (const auto& [key, values] : server.impersonate.extra) {
        if (!o.contains("as-user-extra")) o["as-user-extra"] = json::object();
        o["as-user-extra"].as_object()[key] = json::array(values.begin(), values.end());
    }
    if (!server.auth.exec) return o;
    o["exec"] = json_of(*server.auth.exec);
    if (!server.auth.exec->cluster_extension.empty())
        o["extension"] = json::parse(server.auth.exec->cluster_extension);
    return o;
}

/// The body of the only cluster or user in kubectl's output.
void add_body(const json::value& view, std::string_view list, std::string_view body,
              json::object& all) {
    const json::value& items = view.at(list);
    if (items.is_null()) return;
    for (const auto& [key, value] : items.at(0).at(body).as_object()) all[key] = value;
}

/// kubectl's output, as client-go interprets it.
json::object theirs(const json::value& view) {
    json::object o;
    add_body(view, "clusters", "cluster", o);
    add_body(view, "users", "user", o);
    const auto url = detail::parse_server_url(std::string(o.at("server").as_string()), false);
    o["server"] = to_string(url);
    if (const json::value* extensions = o.if_contains("extensions")) {
        o["extension"] = extensions->at(0).at("extension");
        o.erase("extensions");
    }
    for (const char* key :
         {"certificate-authority-data", "client-certificate-data", "client-key-data"}) {
        if (o.contains(key)) o[key] = *detail::decode_base64(std::string(o[key].as_string()));
    }
    if (json::value* exec = o.if_contains("exec")) {
        for (const char* list : {"args", "env"})
            if (exec->at(list).is_null()) exec->at(list) = json::array();
    }
    if (url.tls) return o;
    for (const char* secret : {"token", "tokenFile", "username", "password", "exec"})
        o.erase(secret);
    return o;
}

/// In a canonical order.
std::string sorted(const json::object& object) {
    std::map<std::string, std::string> entries;
    for (const auto& [key, value] : object) {
        entries[key] = value.is_object() ? sorted(value.as_object()) : json::serialize(value);
    }
    std::string text;
    for (const auto& [key, value] : entries) text += key + "=" + value + "\n";
    return text;
}

/// Both readings of a case, or the failed command.
struct Readings {
    std::string ours, theirs, problem;
};

Readings read(const Case& test) {
    const TemporaryDirectory directory;
    for (const char* file : {"pki/ca.crt", "pki/c.crt", "pki/c.key", "token"})
        directory.write(file, file);
    for (const char* file : {"1/kc", "2/kc", "empty"}) directory.write(file, "");
    directory.write("kc", test.text);
    const std::string enter = "cd " + directory.path() + " && KUBECONFIG=";
    for (const std::string& command : test.commands) {
        const std::string whole = enter + "kc kubectl config " + command + " 2>&1";
        const CommandOutput output = run_command(whole);
        if (!output.success) return {{}, {}, whole + ": " + output.text};
    }
    const CommandOutput view =
        run_command(enter + test.list + " kubectl config view --minify --flatten --raw -o json");
    if (!view.success) return {{}, {}, "kubectl config view"};
    std::string paths;
    for (const std::string& path : detail::split_path_list(test.list))
        paths += directory.path(path) + ":";
    const ApiServerConfig server = detail::load_kubeconfig(paths, "");
    return {sorted(ours(server, directory.path())), sorted(theirs(json::parse(view.text))), {}};
}

}  // namespace

TEST_CASE("Kubeconfigs say what kubectl finds in them") {
    if (!run_command("command -v kubectl").success) SKIP("kubectl is not installed");
    const ScopedVariable upper("HTTPS_PROXY", ""), lower("https_proxy", "");
    const std::vector<Case> all = cases();
    // kubectl is slow, so the cases run concurrently.
    std::vector<std::future<Readings>> futures;
    for (const Case& test : all) futures.push_back(std::async(std::launch::async, read, test));
    for (std::size_t i = 0; i < all.size(); ++i) {
        INFO(all[i].name);
        const Readings readings = futures[i].get();
        CHECK(readings.problem == "");
        CHECK(readings.ours == readings.theirs);
    }
}

TEST_CASE("Kubeconfigs that kubectl refuses are refused") {
    if (!run_command("command -v kubectl").success) SKIP("kubectl is not installed");
    const std::string good =
        "{clusters: [{name: k, cluster: {server: 'https://127.0.0.1:1'}}], contexts: [{name: c, "
        "context: {cluster: k, user: u}}], current-context: c, users: [{name: u, user: {";
    const auto is_refused = [](const std::string& list) {
        // "get --raw" needs usable credentials before it connects; the connection then fails
        // differently.
        const CommandOutput output =
            run_command("KUBECONFIG=" + list + " kubectl get --raw / --request-timeout=5s 2>&1");
        return output.text.find("refused") == std::string::npos;
    };
    for (const std::string& content :
         {good + "token: a}}]}", good + "token: a, username: b}}]}", good + "as-uid: a}}]}",
          good + "client-certificate-data: YQ==}}]}", good + "exec: {command: a}}}]}",
          good + "exec: {command: a, apiVersion: client.authentication.k8s.io/v1}}}]}",
          good + "exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1, "
                 "interactiveMode: Never}}}]}",
          good + "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}}]}",
          good + "exec: {command: a, apiVersion: client.authentication.k8s.io/v1, "
                 "interactiveMode: Never, env: [{value: x}]}}}]}",
          good + "exec: {command: a, apiVersion: client.authentication.k8s.io/v1, "
                 "interactiveMode: sometimes}}}]}",
          std::string("kind: Pod"), std::string("users: [")}) {
        INFO(content);
        const TemporaryDirectory directory;
        const std::string path = directory.write("kc", content);
        const std::string problem = config_error([&] { detail::load_kubeconfig(path, ""); });
        CHECK(is_refused(path) == !problem.empty());
    }
}

}  // namespace k8s_sd::test
