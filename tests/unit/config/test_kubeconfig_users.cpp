#include "support/contains.hpp"
#include "unit/config/kubeconfig_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;

TEST_CASE("kubeconfig: credentials are a token, a token file, which comes first, or a password") {
    CHECK(read_user_config("token: abc").auth.bearer_token == "abc");
    const AuthConfig both = read_user_config("token: abc, tokenFile: /t").auth;
    CHECK(both.bearer_token == "abc");  // used while the file cannot be read
    CHECK(both.bearer_token_file == "/t");
    const AuthConfig basic = read_user_config("username: user1, password: secret").auth;
    CHECK(basic.username == "user1");
    CHECK(basic.password == "secret");
    CHECK(read_user_config("").auth == AuthConfig{});
}

TEST_CASE("kubeconfig: credentials are not sent to a server without TLS") {
    const std::string user =
        "token: abc, client-certificate: c, client-key: k, as: me, as-groups: [g]";
    for (const char* url : {"server: 'http://some-server:8080'",
                            "server: 'http://h', tls-server-name: x, proxy-url: 'http://p:1'"}) {
        const ApiServerConfig server = read_config(one_context(url, user));
        CHECK(server.auth == AuthConfig{});
        CHECK(server.tls == TlsConfig{});
        CHECK(server.impersonate == ImpersonationConfig{.user = "me", .groups = {"g"}});
    }
    const auto without_scheme = [](const std::string& cluster) {
        return read_config(one_context("server: 'h:6443'" + cluster, "token: abc"));
    };
    CHECK(without_scheme("").auth == AuthConfig{});
    CHECK(without_scheme("").url == "http://h:6443");
    CHECK(without_scheme(", insecure-skip-tls-verify: true").auth.bearer_token == "abc");
    CHECK(without_scheme(", insecure-skip-tls-verify: true").url == "https://h:6443");
    const std::string exec =
        "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: /bin/p}";
    CHECK(read_config(one_context("server: 'http://h'", exec)).auth == AuthConfig{});
}

TEST_CASE("kubeconfig: somebody else's name, uid, groups and extra fields are taken over") {
    const ApiServerConfig server = read_user_config(
        "token: t, as: jane, as-uid: '7', as-groups: [dev, \"ops\"], as-user-extra: {Reason: [a, "
        "b], scopes.example.com/x: []}");
    CHECK(server.auth.bearer_token == "t");
    CHECK(server.impersonate == ImpersonationConfig{.user = "jane",
                                                    .uid = "7",
                                                    .groups = {"dev", "ops"},
                                                    .extra = {{"Reason", {"a", "b"}}}});
    CHECK(read_user_config("as: '', as-groups: [], as-user-extra: {}").impersonate ==
          ImpersonationConfig{});
    for (const std::string key : {"as-uid: x", "as-groups: [g]", "as-user-extra: {a: [b]}"}) {
        CHECK(user_problem("token: t, " + key) == "kc:10: users[0].user." +
                                                      key.substr(0, key.find(':')) +
                                                      ": needs as, the user to impersonate");
    }
    CHECK(user_problem("as: a, as-groups: g") == "kc:10: users[0].user.as-groups: must be a list");
    CHECK(user_problem("as: a, as-user-extra: {k: [\"v\\r\\nHost: x\"]}") ==
          "kc:10: users[0].user.as-user-extra.k[0]: must not contain a line break or another "
          "control character");
}

TEST_CASE("kubeconfig: auth providers are refused with what replaces them") {
    const auto advice = [](const std::string& name) {
        const std::string text =
            user_problem("auth-provider: {name: " + name + ", config: {id-token: sesame}}");
        CHECK(text.starts_with("kc:10: users[0].user.auth-provider: auth providers are not "
                               "supported; "));
        CHECK_FALSE(contains(text, "sesame"));
        return text;
    };
    CHECK(contains(advice("oidc"), "kubelogin"));
    CHECK(contains(advice("gcp"), "gke-gcloud-auth-plugin"));
    CHECK(contains(advice("azure"), "kubelogin convert-kubeconfig"));
    CHECK(contains(advice("other"), "kubectl create token"));
    CHECK(user_problem("auth-provider: null") == "");
}

TEST_CASE("kubeconfig: the user of another context may be wrong") {
    CHECK(read_config("users: [{name: e, user: {auth-provider: {name: x}}}]\n"
                      "clusters: [{name: k, cluster: {server: 'https://h'}}]\n"
                      "contexts: [{name: c, context: {cluster: k}}]\ncurrent-context: c\n")
              .url == "https://h");
}

TEST_CASE("kubeconfig: credentials that contradict each other are errors without the secret") {
    const std::pair<const char*, const char*> users[] = {
        {"username: u, token: t", "username: must not be set together with a token"},
        {"username: u, tokenFile: t", "username: must not be set together with a token"},
        {"username: 'sesame:u'", "username: must not contain a colon"},
        {"password: sesame", "password: needs username"},
        {"client-certificate: c", "client-certificate: needs a client-key"},
        {"client-key-data: a2V5", "client-key: needs a client-certificate"},
        {"token: \"sesame\\n\"", "token: must not contain a line break"},
        {"username: u, password: \"sesame\\r\"", "password: must not contain a line break"},
        {"token: [sesame]", "token: must be a text"},
        {"tokenFile: \"a\\0\"", "tokenFile: must not contain a NUL character"},
        {"client-key-data: 'sesame'", "client-key-data: is not base64"}};
    for (const auto& [user, expected] : users) {
        INFO(user);
        const std::string text = user_problem(user);
        CHECK(text.starts_with(std::string("kc:10: users[0].user.") + expected));
        CHECK_FALSE(contains(text, "sesame"));
    }
}
