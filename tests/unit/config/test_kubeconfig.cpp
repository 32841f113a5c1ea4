#include "k8s_sd/detail/base/base64.hpp"
#include "k8s_sd/detail/config/kubeconfig.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <utility>

using namespace k8s_sd;
using k8s_sd::detail::load_kubeconfig;
using k8s_sd::detail::load_kubeconfig_files;
using k8s_sd::test::config_error;
using k8s_sd::test::contains;
using k8s_sd::test::TemporaryDirectory;

namespace {

/// A kubeconfig with one context whose cluster and user have these keys (flow style).
std::string one_context(const std::string& cluster, const std::string& user) {
    return "apiVersion: v1\nkind: Config\npreferences: {}\nextensions: [{name: x}]\n"
           "clusters:\n- name: k\n  cluster: {" +
           cluster +
           "}\n"
           "users:\n- name: u\n  user: {" +
           user +
           "}\n"
           "contexts:\n- name: c\n  context: {cluster: k, user: u, namespace: n}\n"
           "current-context: c\n";
}

constexpr const char* https = "server: 'https://h:6443'";

ApiServerConfig load(const std::string& content) {
    const TemporaryDirectory directory;
    return load_kubeconfig(directory.write("kc", content), "");
}

/// The error without the directory of the file.
std::string problem(const std::string& content, const std::string& context = "") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("kc", content);
    std::string text = config_error([&] { load_kubeconfig(path, context); });
    for (auto at = text.find(path); at != std::string::npos; at = text.find(path)) {
        text.replace(at, path.size(), "kc");
    }
    return text;
}

std::string user_problem(const std::string& user) { return problem(one_context(https, user)); }

}  // namespace

TEST_CASE("kubeconfig: inline certificates are decoded and win over files") {
    const ApiServerConfig server = load(one_context(
        "server: 'https://localhost:6443', certificate-authority-data: YXV0aG9yaXR5, "
        "certificate-authority: ca, tls-server-name: api, disable-compression: true, future: 1",
        "client-certificate-data: Y2VydGlmaWNhdGU=, client-certificate: cc, client-key-data: "
        "a2V5"));
    CHECK(server.url == "https://localhost:6443");
    CHECK(server.tls.ca == "authority");
    CHECK(server.tls.ca_file == "");
    CHECK(server.tls.cert == "certificate");
    CHECK(server.tls.cert_file == "");
    CHECK(server.tls.key == "key");
    CHECK(server.tls.server_name == "api");
    CHECK(server.auth == AuthConfig{});
}

TEST_CASE("kubeconfig: relative paths are relative to its directory, absolute ones stay") {
    const TemporaryDirectory directory;
    const std::string path = directory.write(
        "sub/kc", one_context(std::string(https) + ", certificate-authority: pki/ca.crt",
                              "client-certificate: /abs/c, client-key: ../k, tokenFile: t"));
    const ApiServerConfig server = load_kubeconfig(path, "");
    CHECK(server.tls.ca_file == directory.path("sub/pki/ca.crt"));
    CHECK(server.tls.cert_file == "/abs/c");
    CHECK(server.tls.key_file == directory.path("sub/../k"));
    CHECK(server.auth.bearer_token_file == directory.path("sub/t"));
}

TEST_CASE("kubeconfig: credentials are a token, a token file, which wins, or a password") {
    CHECK(load(one_context(https, "token: abc")).auth.bearer_token == "abc");
    const AuthConfig both = load(one_context(https, "token: abc, tokenFile: /t")).auth;
    CHECK(both.bearer_token == "");
    CHECK(both.bearer_token_file == "/t");
    const AuthConfig basic = load(one_context(https, "username: user1, password: secret")).auth;
    CHECK(basic.username == "user1");
    CHECK(basic.password == "secret");
}

TEST_CASE("kubeconfig: credentials are not sent to a server without TLS") {
    for (const char* url : {"server: 'http://some-server:8080'", "server: 'localhost:8080'"}) {
        const ApiServerConfig server = load(one_context(url, "token: abc"));
        CHECK(server.auth == AuthConfig{});
        CHECK(server.tls == TlsConfig{});
    }
    const std::string tls = "server: 'h:6443', insecure-skip-tls-verify: true";
    CHECK(load(one_context(tls, "token: abc")).auth.bearer_token == "abc");
}

TEST_CASE("kubeconfig: a context without a user keeps its CA") {
    const ApiServerConfig server =
        load("{clusters: [{name: k, cluster: {server: 'https://h', certificate-authority-data: "
             "YXV0aG9yaXR5}}], contexts: [{name: c, context: {cluster: k}}], current-context: c}");
    CHECK(server.tls.ca == "authority");
    CHECK(server.auth == AuthConfig{});
}

TEST_CASE("kubeconfig: JSON is read as YAML is") {
    CHECK(load("{\n\t\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"https:\\/\\/h\"}}],"
               "\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"t\\u00e4\"}}],\"contexts\":"
               "[{\"name\":\"c\",\"context\":{\"cluster\":\"k\",\"user\":\"u\"}}],"
               "\"current-context\":\"c\"}")
              .auth.bearer_token == "t\xc3\xa4");
}

TEST_CASE("kubeconfig: a context is chosen by name, else the current one") {
    const TemporaryDirectory directory;
    const std::string clusters =
        "clusters: [{name: a, cluster: {server: 'https://a'}}, {name: b, cluster: {server: "
        "'https://b'}}]\ncontexts: [{name: ca, context: {cluster: a}}, {name: cb, context: "
        "{cluster: b}}]\n";
    const std::string path = directory.write("kc", clusters + "current-context: ca\n");
    CHECK(load_kubeconfig(path, "").url == "https://a");
    CHECK(load_kubeconfig(path, "cb").url == "https://b");
    CHECK(problem(clusters, "x") == "kc: there is no context \"x\"; there are ca, cb");
    CHECK(problem(clusters) == "kc: current-context is not set; name a context, there are ca, cb");
    CHECK(problem("") == "kc: current-context is not set; name a context, there are none");
}

TEST_CASE("kubeconfig: what is not supported is an error that names it") {
    CHECK(user_problem("exec: {command: aws}") ==
          "kc:10: users[0].user.exec: exec credential plugins are not supported yet; use a token "
          "or a client certificate");
    CHECK(user_problem("auth-provider: {name: oidc}")
              .starts_with("kc:10: users[0].user.auth-provider: auth providers are not supported"));
    for (const std::string key :
         {"as: x", "as-uid: x", "as-groups: [g]", "as-user-extra: {a: [b]}"}) {
        CHECK(user_problem("token: t, " + key) == "kc:10: users[0].user." +
                                                      key.substr(0, key.find(':')) +
                                                      ": impersonation is not supported yet");
    }
    CHECK(problem(one_context("proxy-url: 'http://p', server: 'https://h'", "")) ==
          "kc:7: clusters[0].cluster.proxy-url: proxies are not supported yet");
    CHECK(user_problem("exec: null, as: '', as-groups: [], as-user-extra: {}") == "");
}

TEST_CASE("kubeconfig: the user of another context may be unsupported") {
    const TemporaryDirectory directory;
    const std::string path =
        directory.write("kc", "users: [{name: e, user: {exec: {command: x}}}]\n"
                              "clusters: [{name: k, cluster: {server: 'https://h'}}]\n"
                              "contexts: [{name: c, context: {cluster: k}}]\ncurrent-context: c\n");
    CHECK(load_kubeconfig(path, "").url == "https://h");
}

TEST_CASE("kubeconfig: contradictions are errors") {
    const std::pair<const char*, const char*> users[] = {
        {"username: u, token: t", "user.username: must not be set together with a token"},
        {"username: u, tokenFile: t", "user.username: must not be set together with a token"},
        {"password: p", "user.password: needs username"},
        {"client-certificate: c", "user.client-certificate: needs a client-key"},
        {"client-key-data: a2V5", "user.client-key: needs a client-certificate"},
        {"token: \"sesame\\n\"", "user.token: must not contain a line break"},
        {"token: [a]", "user.token: must be a text"},
        {"client-key-data: '***'", "user.client-key-data: is not base64"}};
    for (const auto& [user, expected] : users) {
        INFO(user);
        const std::string text = user_problem(user);
        CHECK(text.starts_with(std::string("kc:10: users[0].") + expected));
        CHECK_FALSE(contains(text, "sesame"));
    }
    CHECK(problem(one_context("server: 'https://h', certificate-authority: c, "
                              "insecure-skip-tls-verify: true",
                              ""))
              .starts_with("kc:7: clusters[0].cluster.insecure-skip-tls-verify: must not be set"));
    CHECK(problem(one_context("", "")) == "kc:7: clusters[0].cluster.server: is missing");
    CHECK(problem(one_context("server: 'https://u:sesame@h'", "")) ==
          "kc:7: clusters[0].cluster.server: must not contain a user or password; use the options "
          "for credentials");
}

TEST_CASE("kubeconfig: references to nothing are errors with the names there are") {
    const std::string cluster = "clusters: [{name: k, cluster: {server: 'https://h'}}]\n";
    const auto with = [&](const std::string& context) {
        return problem(cluster + "contexts:\n- name: c\n  context: " + context +
                       "\ncurrent-context: c\n");
    };
    CHECK(with("{cluster: x}") ==
          "kc:4: contexts[0].context.cluster: there is no such entry; there are k");
    CHECK(with("{cluster: k, user: x}") ==
          "kc:4: contexts[0].context.user: there is no such entry; there are none");
    CHECK(with("{}") == "kc:4: contexts[0].context.cluster: is missing");
    CHECK(with("") == "kc:4: contexts[0].context.cluster: is missing");
    CHECK(problem("clusters: [{cluster: {}}]") == "kc:1: clusters[0]: has no name");
    CHECK(problem("users:\n- name: a\n- name: a\n") ==
          "kc:3: users[1].name: there is an entry of this name already");
}

TEST_CASE("kubeconfig: files merge by name, the first one wins, with their own directories") {
    const TemporaryDirectory directory;
    const std::string first = directory.write(
        "1/kc", "clusters: [{name: k, cluster: {server: 'https://first', certificate-authority: "
                "ca}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n");
    const std::string second = directory.write(
        "2/kc", "clusters: [{name: k, cluster: {server: 'https://second'}}]\n"
                "users: [{name: u, user: {tokenFile: t}}]\n"
                "contexts: [{name: d, context: {cluster: k}}]\ncurrent-context: c\n");
    const std::string third = directory.write("3/kc", "current-context: d\n");
    const std::string missing = directory.path("missing");
    const ApiServerConfig server = load_kubeconfig_files({missing, first, second, third}, "");
    CHECK(server.url == "https://first");
    CHECK(server.tls.ca_file == directory.path("1/ca"));
    CHECK(server.auth.bearer_token_file == directory.path("2/t"));
    CHECK(load_kubeconfig(missing + "::" + first + ":" + second + ":", "") == server);
    CHECK(load_kubeconfig(first + ":" + second, "d").auth == AuthConfig{});
    CHECK(contains(config_error([&] { load_kubeconfig(missing + ":" + missing + "2", ""); }),
                   "none of these files exists: " + missing + ", " + missing + "2"));
}

TEST_CASE("kubeconfig: a file that cannot be read or is no kubeconfig is an error") {
    const TemporaryDirectory directory;
    const auto error = [&](const std::string& path) {
        return config_error([&] { load_kubeconfig(path, ""); });
    };
    CHECK(error(directory.path("none")) ==
          "kubeconfig: cannot read " + directory.path("none") + ": No such file or directory");
    CHECK(contains(error(directory.path()), "it is a directory"));
    CHECK(error("").starts_with("kubeconfig: none of these files exists"));
    CHECK(contains(error(directory.write("big", std::string((4U << 20) + 1, ' '))), "4 MiB"));
    CHECK(problem("just text") == "kc:1: must be a mapping of keys to values");
    CHECK(problem("clusters: {a: b}") == "kc:1: clusters: must be a list");
    CHECK(problem("users:\n  - [a]\n") == "kc:2: users[0]: must be a mapping of keys to values");
}

TEST_CASE("kubeconfig: every prefix of a valid file is read or refused, never more") {
    const std::string whole = one_context(https, "token: sesame");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(whole.substr(0, size));
        CHECK_FALSE(contains(problem(whole.substr(0, size)), "sesame"));
    }
    CHECK(problem(whole) == "");
}

TEST_CASE("decode_base64: takes padded base64 with line breaks and nothing else") {
    using detail::decode_base64;
    CHECK(decode_base64("") == "");
    CHECK(decode_base64("Zg==") == "f");
    CHECK(decode_base64("Zm8=") == "fo");
    CHECK(decode_base64("Zm9v\n YmFy\r\n") == "foobar");
    CHECK(decode_base64("////") == "\xff\xff\xff");
    CHECK(decode_base64("AAAA") == std::string(3, '\0'));
    for (const char* bad : {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zg=a", "Zm9v=", "Z*9v",
                            "Zm9v-_==", "Zg==Zg=="}) {
        INFO(bad);
        CHECK_FALSE(decode_base64(bad));
    }
}

TEST_CASE("split_path_list: empty and repeated paths go") {
    CHECK(detail::split_path_list("a::b:a:") == std::vector<std::string>{"a", "b"});
    CHECK(detail::split_path_list("").empty());
}
