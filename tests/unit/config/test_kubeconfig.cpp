#include "k8s_sd/detail/text/base64.hpp"
#include "support/contains.hpp"
#include "unit/config/kubeconfig_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using k8s_sd::detail::load_kubeconfig;

TEST_CASE("kubeconfig: inline certificates are decoded and win over files") {
    const ApiServerConfig server = read_config(one_context(
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
        "sub/kc", one_context(std::string(https_server) + ", certificate-authority: pki/ca.crt",
                              "client-certificate: /abs/c, client-key: ../k, tokenFile: t"));
    const ApiServerConfig server = load_kubeconfig(path, "");
    CHECK(server.tls.ca_file == directory.path("sub/pki/ca.crt"));
    CHECK(server.tls.cert_file == "/abs/c");
    CHECK(server.tls.key_file == directory.path("sub/../k"));
    CHECK(server.auth.bearer_token_file == directory.path("sub/t"));
}

TEST_CASE("kubeconfig: a cluster is read with all that it has") {
    const ApiServerConfig server = read_config(
        one_context("server: 'https://API.example.com:443/k8s/', tls-server-name: api, "
                    "insecure-skip-tls-verify: true, proxy-url: 'socks5://u:p@proxy:1080', "
                    "disable-compression: true, future: {a: [1]}",
                    ""));
    CHECK(server.url == "https://api.example.com/k8s");
    CHECK(server.tls == TlsConfig{.server_name = "api", .insecure_skip_verify = true});
    CHECK(server.proxy == ProxyConfig{.url = "socks5://u:p@proxy:1080"});
    CHECK(server.disable_compression);
    CHECK_FALSE(read_config(one_context(https_server, "")).disable_compression);
    CHECK(server.kubeconfig == KubeconfigOrigin{{"/etc/k8s/kc"}, "c"});
    for (const char* url : {"http://p", "https://p:1", "SOCKS5://p"}) {
        CHECK(read_config(one_context(https_server + std::string(", proxy-url: ") + url, ""))
                  .proxy.url == url);
    }
}

TEST_CASE("kubeconfig: what is wrong with a cluster is said with what would be right") {
    const std::pair<const char*, const char*> clusters[] = {
        {"", "server: is missing"},
        {"server: 'https://u:sesame@h'",
         "server: must not contain a user or password; use the options for credentials"},
        {"server: 'https://[fe80::1%25eth0]:6443'",
         "server: the IPv6 address has a zone, which means something else on each machine; use "
         "one without \"%\""},
        {"server: 'https://h', certificate-authority: c, insecure-skip-tls-verify: true",
         "insecure-skip-tls-verify: must not be set together with a certificate-authority; remove "
         "one of them"},
        {"server: 'https://h', insecure-skip-tls-verify: 'true'",
         "insecure-skip-tls-verify: must be true or false"},
        {"server: 'https://h', certificate-authority-data: sesame",
         "certificate-authority-data: is not base64"},
        {"server: 'https://h', tls-server-name: \"a\\n\"",
         "tls-server-name: must not contain a line break or another control character"}};
    for (const auto& [cluster, expected] : clusters) {
        INFO(cluster);
        CHECK(cluster_problem(cluster) == std::string("kc:7: clusters[0].cluster.") + expected);
    }
    for (const char* url : {"ftp://u:sesame@p", "p:8080", "socks5h://p", "http:/p"}) {
        INFO(url);
        CHECK(
            cluster_problem(https_server + std::string(", proxy-url: ") + url) ==
            "kc:7: clusters[0].cluster.proxy-url: must begin with http://, https:// or socks5://");
    }
    const std::string path =
        cluster_problem("server: 'https://h', proxy-url: 'http://u:sesame@p/x'");
    CHECK(path.starts_with("kc:7: clusters[0].cluster.proxy-url: must not have a path"));
    CHECK_FALSE(contains(path, "sesame"));
}

TEST_CASE("kubeconfig: another file is detected by its kind") {
    CHECK(problem_of("apiVersion: v1\nkind: Secret\n") ==
          "kc:2: kind: is not that of a kubeconfig, which is Config");
    CHECK(problem_of("apiVersion: apps/v1\n") ==
          "kc:1: apiVersion: is not that of a kubeconfig, which is v1");
}

TEST_CASE("kubeconfig: byte order marks and UTF-16, as Windows writes them, are read") {
    const std::string text = one_context(https_server, "token: 't\xc3\xa4\xf0\x9f\x98\x80'");
    const auto utf16 = [](bool big) {
        std::string result;
        const auto unit = [&](unsigned code) {
            const char high = static_cast<char>(code >> 8U), low = static_cast<char>(code);
            (result += big ? high : low) += big ? low : high;
        };
        unit(0xfeff);
        for (const char c : one_context(https_server, "token: 't#'")) {
            if (c != '#') {
                unit(static_cast<unsigned char>(c));
            } else {
                unit(0xe4), unit(0xd83d), unit(0xde00);
            }
        }
        return result;
    };
    const ApiServerConfig server = read_config(text);
    CHECK(read_config("\xef\xbb\xbf" + text) == server);
    CHECK(read_config(utf16(false)) == server);
    CHECK(read_config(utf16(true)) == server);
    CHECK(problem_of(utf16(true) + "x") == "kc:15: the text is not UTF-8");
    CHECK(problem_of(std::string("\xff\xfe\x3d\xd8x", 5)) == "kc:1: the text is not UTF-8");
    CHECK(problem_of(std::string("\xfe\xff\xde\x00\xd8\x3d", 6)) == "kc:1: the text is not UTF-8");
    CHECK(problem_of("\xff\xfe") == problem_of(""));
}

TEST_CASE("kubeconfig: a context without a user keeps its CA") {
    const ApiServerConfig server = read_config(
        "{clusters: [{name: k, cluster: {server: 'https://h', certificate-authority-data: "
        "YXV0aG9yaXR5}}], contexts: [{name: c, context: {cluster: k}}], current-context: c}");
    CHECK(server.tls.ca == "authority");
    CHECK(server.auth == AuthConfig{});
}

TEST_CASE("kubeconfig: JSON is read as YAML is") {
    CHECK(read_config(
              "{\n\t\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"https:\\/\\/h\"}}],"
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
    CHECK(problem_of(clusters, "x") == "kc: there is no context \"x\"; the kubeconfig has ca, cb");
    CHECK(problem_of(clusters) ==
          "kc: current-context is not set; name a context, the kubeconfig has ca, cb");
    CHECK(problem_of("") ==
          "kc: current-context is not set; name a context, the kubeconfig has none");
}

TEST_CASE("kubeconfig: references to nothing are errors with the names there are") {
    const std::string cluster = "clusters: [{name: k, cluster: {server: 'https://h'}}]\n";
    const auto with = [&](const std::string& context) {
        return problem_of(cluster + "contexts:\n- name: c\n  context: " + context +
                          "\ncurrent-context: c\n");
    };
    CHECK(with("{cluster: x}") ==
          "kc:4: contexts[0].context.cluster: there is no such entry; the kubeconfig has k");
    CHECK(with("{cluster: k, user: x}") ==
          "kc:4: contexts[0].context.user: there is no such entry; the kubeconfig has none");
    CHECK(with("{}") == "kc:4: contexts[0].context.cluster: is missing; the kubeconfig has k");
    CHECK(with("") == "kc:4: contexts[0].context.cluster: is missing; the kubeconfig has k");
    CHECK(problem_of("clusters: [{cluster: {}}]") == "kc:1: clusters[0]: has no name");
    CHECK(problem_of("users:\n- name: a\n- name: a\n") ==
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
    const ApiServerConfig server =
        load_kubeconfig(missing + ":" + first + ":" + second + ":" + third, "");
    CHECK(server.url == "https://first");
    CHECK(server.tls.ca_file == directory.path("1/ca"));
    CHECK(server.auth.bearer_token_file == directory.path("2/t"));
    CHECK(server.kubeconfig == KubeconfigOrigin{{first, second, third}, "c"});
    CHECK(load_kubeconfig(missing + "::" + first + ":" + second + ":", "").url == server.url);
    CHECK(load_kubeconfig(first + ":" + second, "d").auth == AuthConfig{});
    CHECK(contains(config_error([&] { load_kubeconfig(missing + ":" + missing + "2", ""); }),
                   "none of these files exists: " + missing + ", " + missing + "2"));
}

TEST_CASE("kubeconfig: an empty file among several is one that says nothing") {
    const TemporaryDirectory directory;
    const std::string empty = directory.write("empty", "");
    const std::string good = directory.write("good", one_context(https_server, "token: t"));
    CHECK(load_kubeconfig(empty + ":" + good, "").auth.bearer_token == "t");
}

TEST_CASE("kubeconfig: a file among several that cannot be read is an error, as in kubectl") {
    const TemporaryDirectory directory;
    const std::string good = directory.write("good", one_context(https_server, "token: t"));
    const std::string bad = directory.write("bad", "users: [{name: x, user: [}]\n");
    for (const std::string& list : {good + ":" + bad, bad + ":" + good}) {
        CHECK(config_error([&] {
                  load_kubeconfig(list, "");
              }).starts_with(bad + ":1: YAML syntax: "));
    }
}

TEST_CASE("kubeconfig: a directory among several files is an error, as in kubectl") {
    const TemporaryDirectory directory;
    const std::string good = directory.write("good", one_context(https_server, "token: t"));
    for (const std::string& list : {directory.path() + ":" + good, good + ":" + directory.path()}) {
        CHECK(config_error([&] { load_kubeconfig(list, ""); }) ==
              "kubeconfig_file: cannot read " + directory.path() + ": it is a directory");
    }
    // Only a file that does not exist is ignored (ENOENT); any other reason is an error.
    CHECK(config_error([&] { load_kubeconfig(good + "/x:" + good, ""); }) ==
          "kubeconfig_file: cannot read " + good + "/x: Not a directory");
}

TEST_CASE("kubeconfig: entries that are null are none") {
    const ApiServerConfig server =
        read_config("clusters: [null, {name: k, cluster: {server: 'https://h'}}, ~]\n"
                    "users:\n-\n- {name: u, user: {token: t}}\n"
                    "contexts: [null, {name: c, context: {cluster: k, user: u}}]\n"
                    "current-context: c\n");
    CHECK(server.url == "https://h");
    CHECK(server.auth.bearer_token == "t");
    CHECK(problem_of("users: [{user: {token: t}}]\n") == "kc:1: users[0]: has no name");
}

TEST_CASE("kubeconfig: a file that cannot be read or is no kubeconfig is an error") {
    const TemporaryDirectory directory;
    const auto error = [&](const std::string& path) {
        return config_error([&] { load_kubeconfig(path, ""); });
    };
    CHECK(error(directory.path("none")) ==
          "kubeconfig_file: cannot read " + directory.path("none") + ": No such file or directory");
    CHECK(contains(error(directory.path()), "it is a directory"));
    CHECK(error("").starts_with("kubeconfig_file: none of these files exists"));
    CHECK(contains(error(directory.write("big", std::string((4U << 20) + 1, ' '))), "4 MiB"));
    CHECK(problem_of("just text") == "kc:1: must be a mapping of keys to values");
    CHECK(problem_of("clusters: {a: b}") == "kc:1: clusters: must be a list");
    CHECK(problem_of("users:\n  - [a]\n") == "kc:2: users[0]: must be a mapping of keys to values");
}

TEST_CASE("kubeconfig: every prefix of a valid file is read or refused, never more") {
    const std::string whole = one_context(https_server, "token: sesame");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(whole.substr(0, size));
        CHECK_FALSE(contains(problem_of(whole.substr(0, size)), "sesame"));
    }
    CHECK(problem_of(whole) == "");
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

TEST_CASE("kubeconfig: no name in it reaches a terminal as an escape sequence") {
    const std::string bad = "\"x\\e]0;owned\\a\\e[31m\"";
    const auto problem = [&](const std::string& context, const std::string& wanted) {
        return problem_of("clusters: [{name: " + bad +
                              ", cluster: {server: 'https://h'}}]\n"
                              "contexts:\n- {name: " +
                              bad + ", context: {cluster: none}}\ncurrent-context: " + context,
                          wanted);
    };
    for (const std::string& text :
         {problem(bad, ""), problem("''", ""), problem(bad, "\x1b[31mred\nline")}) {
        INFO(text);
        CHECK(text.starts_with("kc:"));
        CHECK(contains(text, "the kubeconfig has x ]0;owned [31m"));
        CHECK(text.find_first_of("\x1b\a\n") == std::string::npos);
    }
    const std::string text = config_error([] { load_kubeconfig("/none/\x1b[31mred\n", ""); });
    CHECK(text.starts_with("kubeconfig_file: cannot read /none/ [31mred: No such file"));
}

TEST_CASE("kubeconfig: a file whose path has a colon is one file") {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory.path("h:x"));
    const std::string path = directory.write("h:x/kc", one_context(https_server, "token: t"));
    CHECK(load_kubeconfig(path, "").kubeconfig.files == std::vector<std::string>{path});
    const std::string other = directory.write("kc", one_context("server: 'https://o'", ""));
    CHECK(load_kubeconfig(directory.path("none") + ":" + other, "").url == "https://o");
}

TEST_CASE("split_path_list: empty and repeated paths go") {
    CHECK(detail::split_path_list("a::b:a:") == std::vector<std::string>{"a", "b"});
    CHECK(detail::split_path_list("").empty());
}
