#include "k8s_sd/config_yaml.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <utility>

using namespace k8s_sd;
using k8s_sd::test::config_error;
using k8s_sd::test::contains;
using k8s_sd::test::TemporaryDirectory;

namespace {

constexpr auto P = LabelDialect::prometheus;
constexpr auto V = LabelDialect::victoriametrics;

DiscoveryConfig parse(const std::string& yaml, LabelDialect dialect = P) {
    return parse_sd_config(yaml, dialect, "sd.yaml");
}

std::string problem(const std::string& yaml, LabelDialect dialect = P) {
    return config_error([&] { parse(yaml, dialect); });
}

std::string with_server(const std::string& lines) {
    return "role: pod\napi_server: https://h\n" + lines;
}

}  // namespace

TEST_CASE("parse_sd_config: every option reaches its field") {
    const std::string yaml = R"yaml(
role: endpoints
api_server: https://host:6443/prefix
namespaces:
  names: [a, "b"]
selectors:
- {role: pod, label: "app in (x,y)", field: spec.nodeName=n}
- role: endpoints
attach_metadata: {node: true, namespace: yes, deployment: true, job: on, cronjob: true}
authorization:
  type: " Token "
  credentials: sesame
tls_config:
  ca: CA
  cert_file: /etc/cert
  key: |
    KEY
  server_name: api
  insecure_skip_verify: true
  min_version: TLS12
  max_version: TLS13
follow_redirects: false
enable_http2: true
)yaml";
    DiscoveryConfig expected{
        .role = Role::endpoints,
        .api_server = {.url = "https://host:6443/prefix",
                       .auth = {.bearer_token = "sesame", .scheme = "Token"},
                       .tls = {.ca = "CA",
                               .cert_file = "/etc/cert",
                               .key = "KEY\n",
                               .server_name = "api",
                               .insecure_skip_verify = true}},
        .namespaces = {"a", "b"},
        .selectors = {{Role::pod, "app in (x,y)", "spec.nodeName=n"}, {Role::endpoints, "", ""}},
        .attach_metadata = {true, true, true, true, true}};
    CHECK(parse(yaml) == expected);
    expected.dialect = V;
    CHECK(parse(yaml, V) == expected);
}

TEST_CASE("parse_sd_config: a list with one entry is that entry, JSON is YAML, null is unset") {
    const DiscoveryConfig pods{.role = Role::pod};
    CHECK(parse("- role: pod") == pods);
    CHECK(parse("{\"role\": \"pod\"}") == pods);
    CHECK(parse("---\nrole: pod\n...\n") == pods);
    CHECK(parse("\xef\xbb\xbfrole: pod\r\n") == pods);
    CHECK(parse("role: pod\nnamespaces:\nselectors: ~\napi_server: null\ntls_config:\n"
                "attach_metadata: {node: }\nfollow_redirects:\n") == pods);
    CHECK(problem("- role: pod\n- role: node\n") ==
          "sd.yaml:1: there are 2 entries; exactly one is allowed");
    CHECK(problem("[]") == "sd.yaml:1: there are 0 entries; exactly one is allowed");
    CHECK(problem("- role: pod\n  rol: x").starts_with("sd.yaml:2: rol: unknown key"));
}

TEST_CASE("parse_sd_config: the role is one of ten, lower case, and vmagent has an alias") {
    const std::string by_vmagent =
        "allowed are node, pod, service, endpoints, endpointslice, ingress";
    const std::string allowed = by_vmagent + ", gateway, httproute, grpcroute, tlsroute";
    CHECK(problem("") == "sd.yaml:1: role: is missing; " + allowed);
    CHECK(problem("# nothing\n", V) == "sd.yaml:1: role: is missing; " + by_vmagent);
    CHECK(problem("role: ''") == "sd.yaml:1: role: is missing; " + allowed);
    CHECK(problem("\nrole: foo", V) == "sd.yaml:2: role: there is no such role; " + by_vmagent);
    CHECK(problem("role: Pod") ==
          "sd.yaml:1: role: there is no such role (did you mean pod?); " + allowed);
    CHECK(problem("role: [pod]") == "sd.yaml:1: role: must be a text");
    CHECK(problem("role: endpointslices").starts_with("sd.yaml:1: role: there is no such role"));
    CHECK(parse("role: endpointslices", V).role == Role::endpointslice);
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        CHECK(parse("role: " + std::string(role_names[i])).role == static_cast<Role>(i));
    }
}

TEST_CASE("parse_sd_config: vmagent has no roles of Gateway API") {
    for (const std::string role : {"gateway", "httproute", "grpcroute", "tlsroute"}) {
        CHECK(problem("role: " + role, V) ==
              "sd.yaml:1: role: vmagent has no role " + role +
                  ": it does not discover Gateway API; use Prometheus' dialect");
    }
    CHECK(contains(problem("role: ingres", V), "did you mean ingress?"));
    CHECK(problem("role: httprout", V).find("did you mean") == std::string::npos);
    CHECK(contains(problem("role: httprout"), "did you mean httproute?"));
}

TEST_CASE("parse_sd_config: an unknown key is an error at any depth") {
    CHECK(problem("role: pod\nselectors:\n- rol: pod\n") ==
          "sd.yaml:3: selectors[0].rol: unknown key (did you mean role?); allowed are role, label, "
          "field");
    CHECK(problem("role: pod\nnamespaces: {foo: bar}") ==
          "sd.yaml:2: namespaces.foo: unknown key; allowed are names, own_namespace");
    CHECK(contains(problem("role: pod\nAttach_metadata: {}"), "(did you mean attach_metadata?)"));
    CHECK(problem("role: pod\nattach_metadata: {pod: true}")
              .starts_with("sd.yaml:2: attach_metadata.pod: unknown key; allowed are node, "));
    CHECK(contains(problem(with_server("tls_config: {cafile: x}")),
                   "unknown key (did you mean ca_file?); allowed are "));
    CHECK(problem(with_server("authorization: {token: x}"))
              .starts_with("sd.yaml:3: authorization.t"));
    CHECK(
        problem(with_server("basic_auth: {user: x}")).starts_with("sd.yaml:3: basic_auth.user: "));
    CHECK(problem("role: pod\n<<: {a: b}").starts_with("sd.yaml:2: a: unknown key"));
    CHECK(problem("role: pod\nrole: pod\n") == "sd.yaml:2: role: is there twice");
    CHECK(problem("role: pod\n? [a]\n: b\n").ends_with("a key must be a text"));
}

TEST_CASE("parse_sd_config: a key that is no name is not repeated") {
    for (const std::string yaml :
         {"{role: pod, bearer_token:sesame}", "\"sesame\\nlog line\": 1", "\"sesame \\e[2J\": 1"}) {
        INFO(yaml);
        const std::string text = problem(yaml);
        CHECK(text.starts_with("sd.yaml:1: ?: unknown key"));
        CHECK_FALSE(contains(text, "sesame"));
    }
}

TEST_CASE("parse_sd_config: what is not supported is an error that names it") {
    CHECK(problem("role: pod\nselectors: [{role: namespace}]", V) ==
          "sd.yaml:2: selectors[0].role: selectors for namespaces are not supported yet");
    CHECK(problem("role: pod\nkubeconfig_file: http://h/k", V) ==
          "sd.yaml:2: kubeconfig_file: reading it from a URL is not supported; name a file");
}

TEST_CASE("parse_sd_config: the findings of validate are reported by line and key") {
    CHECK(problem("role: pod\nauthorization:\n  type: Bearer\n  credentials: t\n")
              .starts_with("sd.yaml:4: authorization.credentials: needs the URL of api_server"));
    CHECK(problem("role: pod\nkubeconfig_file: k\ntls_config:\n  ca_file: f\n")
              .starts_with("sd.yaml:4: tls_config.ca_file: must not be set together with kubec"));
    CHECK(problem("role: pod\nkubeconfig_file: k\napi_server: https://h\n") ==
          "sd.yaml:2: kubeconfig_file: must not be set together with the URL of api_server");
    CHECK(problem("role: pod\napi_server: ftp://h\n")
              .starts_with("sd.yaml:2: api_server: the scheme must be http or https"));
    CHECK(problem(with_server("namespaces:\n  own_namespace: true\n"))
              .starts_with("sd.yaml:4: namespaces.own_namespace: needs in-cluster access"));
    CHECK(problem("role: pod\nkubeconfig_file: k\nnamespaces: {own_namespace: true}")
              .starts_with("sd.yaml:3: namespaces.own_namespace: needs in-cluster access"));
    CHECK(problem("role: pod\nnamespaces:\n  names:\n  - a\n  - B\n")
              .starts_with("sd.yaml:5: namespaces.names[1]: \"B\" is not a name of a namespace"));
    CHECK(problem(with_server("tls_config:\n  cert_file: c\n"))
              .starts_with("sd.yaml:4: tls_config.cert_file: needs the private key"));
    CHECK(problem("role: pod\nselectors:\n- role: pod\n- role: service\n") ==
          "sd.yaml:4: selectors[1].role: a configuration of role pod takes selectors for pod and "
          "node, not service");
    CHECK(problem("role: pod\nselectors:\n- role: pod\n- role: pod\n")
              .starts_with("sd.yaml:4: selectors[1].role: there is a selector for role pod"));
    CHECK(problem("role: pod\nselectors:\n- role: pod\n  label: a b\n")
              .starts_with("sd.yaml:4: selectors[0].label: "));
    CHECK(problem("role: pod\nselectors:\n- role: pod\n  field: metadata.status-Running\n")
              .starts_with("sd.yaml:4: selectors[0].field: "));
}

TEST_CASE("parse_sd_config: tls_config makes an address without scheme https") {
    const auto url = [](const std::string& lines) {
        return resolve(parse("role: pod\napi_server: " + lines, V)).scope.api_server.url;
    };
    CHECK(url("host:6443") == "http://host:6443");
    CHECK(url("host:6443\ntls_config: {}") == "https://host:6443");
    CHECK(url("http://host:6443\ntls_config: {}") == "http://host:6443");
    CHECK(url("https://h/prefix//") == "https://h/prefix");
}

TEST_CASE("parse_sd_config: vmagent's dialect is lax with selectors") {
    const std::string two = "role: pod\nselectors: [{role: pod, label: foo},\n"
                            "{role: endpointslices, label: z},\n{role: pod, label: x, field: y=1}]";
    const std::vector<Selector> pods{{Role::pod, "foo", ""}, {Role::pod, "x", "y=1"}};
    CHECK(parse(two, V).selectors == pods);
    CHECK(problem(two).starts_with("sd.yaml:3: selectors[1].role: there is no such role"));
    CHECK(problem("role: pod\nselectors:\n- role: endpointslices\n- {role: pod, label: =}\n", V)
              .starts_with("sd.yaml:4: selectors[1].label: "));
    CHECK(problem("role: pod\nselectors:\n- role: endpointslices\n  field: x\n", V)
              .starts_with("sd.yaml:4: selectors[0].field: "));
    for (const std::string role : {"role: foo, ", "", "role: gateway, ", "role: ~, "}) {
        CAPTURE(role);
        const std::string inert =
            "role: pod\nselectors:\n- {" + role + "label: a}\n- {role: pod}\n";
        CHECK(parse(inert, V).selectors == std::vector<Selector>{{Role::pod, "", ""}});
        CHECK(problem("role: pod\nselectors:\n- {" + role + "label: =}\n", V)
                  .starts_with("sd.yaml:3: selectors[0].label: "));
        if (role != "role: gateway, ") {
            CHECK(problem("role: pod\nselectors:\n- {" + role + "label: a}\n")
                      .starts_with("sd.yaml:3: selectors[0].role: "));
        }
    }
}

TEST_CASE("parse_sd_config: vmagent's own_namespace counts only without names") {
    const TemporaryDirectory directory;
    directory.write("namespace", "own\n");
    const InClusterFiles files{directory.path()};
    const auto namespaces = [&](const std::string& lines) {
        return resolve(parse(with_server(lines), V), files).scope.namespaces;
    };
    CHECK(namespaces("namespaces: {own_namespace: true, names: [a]}") ==
          std::vector<std::string>{"a"});
    CHECK(namespaces("namespaces: {own_namespace: true}") == std::vector<std::string>{"own"});
    CHECK(namespaces("namespaces: {names: []}").empty());
    CHECK(namespaces("namespaces: {names: ['', a]}").empty());
}

TEST_CASE("parse_sd_config: attach_metadata is what it says and nothing else") {
    CHECK(parse("role: pod\nattach_metadata: {node: true}", V).attach_metadata ==
          AttachMetadata{.node = true});
}

TEST_CASE("parse_sd_config: wrong types are errors with their place") {
    const std::pair<const char*, const char*> cases[] = {
        {"text", "1: must be a mapping of keys to values"},
        {"- text", "1: must be a mapping of keys to values"},
        {"role: {a: b}", "1: role: must be a text"},
        {"role: pod\nnamespaces: [a]", "2: namespaces: must be a mapping of keys to values"},
        {"role: pod\nnamespaces: {names: a}", "2: namespaces.names: must be a list"},
        {"role: pod\nnamespaces: {names: [[a]]}", "2: namespaces.names[0]: must be a text"},
        {"role: pod\nnamespaces: {names: [~]}", "2: namespaces.names[0]: must be a text"},
        {"role: pod\nnamespaces: {own_namespace: 1}",
         "2: namespaces.own_namespace: must be true or false"},
        {"role: pod\nnamespaces: {own_namespace: 'true'}",
         "2: namespaces.own_namespace: must be true or false"},
        {"role: pod\nselectors: {role: pod}", "2: selectors: must be a list"},
        {"role: pod\nselectors: [pod]", "2: selectors[0]: must be a mapping of keys to values"},
        {"role: pod\nattach_metadata: true",
         "2: attach_metadata: must be a mapping of keys to values"},
        {"role: pod\ntls_config: x", "2: tls_config: must be a mapping of keys to values"}};
    for (const auto& [yaml, expected] : cases) {
        CHECK(problem(yaml) == std::string("sd.yaml:") + expected);
    }
}

TEST_CASE("parse_sd_config: text that is no YAML is an error with its line") {
    const std::pair<std::string, const char*> cases[] = {
        {"role: pod\n b: c", "2: YAML syntax: "},
        {"role: [pod", "1: YAML syntax: "},
        {"role: \"pod", "1: YAML syntax: "},
        {"role: pod\nbearer_token: *sesame", "2: YAML syntax: "},
        {"role: pod\n---\nrole: node", "3: there is a second YAML document"},
        {"role: pod\nx: \xff", "2: the text is not UTF-8"},
        {"role: pod\nx: \xed\xa0\x80", "2: the text is not UTF-8"},
        {std::string("\xff\xfer\0o\0", 6), "1: the text is not UTF-8"},
        {std::string("role: pod\nx: \0", 14), "2: the text contains a control character"},
        {"role: pod\n\x04", "2: the text contains a control character"}};
    for (const auto& [yaml, expected] : cases) {
        INFO(yaml);
        const std::string text = problem(yaml);
        CHECK(text.starts_with(std::string("sd.yaml:") + expected));
        CHECK_FALSE(contains(text, "sesame"));
    }
}

TEST_CASE("parse_sd_config: a mapping merges others, its own keys win") {
    const auto roles = [](const std::string& yaml) {
        const auto config = parse(yaml);
        return std::pair(config.role, config.namespaces);
    };
    const std::vector<std::string> x{"x"};
    CHECK(roles("<<: {role: node, namespaces: {names: [x]}}\nrole: pod") ==
          std::pair(Role::pod, x));
    CHECK(roles("role: pod\n<<: {role: node, namespaces: {names: [x]}}") ==
          std::pair(Role::pod, x));
    CHECK(roles("{role: pod, namespaces: {<<: &n {names: [x]}}}") == std::pair(Role::pod, x));
    CHECK(roles("<<: [{role: pod}, {role: node, namespaces: {names: [x]}}]") ==
          std::pair(Role::pod, x));
    CHECK(roles("<<: {<<: {role: node, namespaces: {names: [x]}}, role: pod}") ==
          std::pair(Role::pod, x));
    CHECK(roles("{role: pod, <<: {}, namespaces: {<<: [], names: [x]}}") ==
          std::pair(Role::pod, x));
    CHECK(parse("{!!merge <<: {role: pod}}").role == Role::pod);
}

TEST_CASE("parse_sd_config: a mistake in a merge is reported with its position") {
    const std::pair<const char*, const char*> table[] = {
        {"role: pod\n<<: 7", "sd.yaml:2: <<: must be a mapping, or a list of mappings, to take"},
        {"role: pod\n<<: ", "sd.yaml:2: <<: must be a mapping, or a list"},
        {"role: pod\n<<: [{}, [{}]]", "sd.yaml:2: <<: must be a mapping, or a list"},
        {"role: pod\n<<: {}\n<<: {}", "sd.yaml:3: <<: is there twice"},
        {"role: pod\n'<<': {}", "sd.yaml:2: <<: unknown key"},
        {"role: pod\n<<:\n  role: node\n  role: pod", "sd.yaml:4: role: is there twice"},
        {"<<:\n- role: pod\n-\n  namespaces: {}\n  rol: x", "sd.yaml:5: rol: unknown key"},
        {"role: pod\nnamespaces:\n  <<:\n    nams: []", "sd.yaml:4: namespaces.nams: unknown key"},
        {"&a {role: pod, <<: *a}", "sd.yaml:1: <<: takes too many keys from other mappings"},
        {"&a {role: pod, <<: [*a, *a]}", "sd.yaml:1: <<: takes too many keys"},
    };
    for (const auto& [yaml, expected] : table) {
        INFO(yaml);
        CHECK(problem(yaml).starts_with(expected));
    }
}

TEST_CASE("parse_sd_config: mappings that merge one another again and again end in an error") {
    std::string bomb = "{}";
    for (int i = 0; i < 40; ++i)
        bomb = "{<<: [&a" + std::to_string(i) + " " + bomb + ", *a" + std::to_string(i) + "]}";
    CHECK(contains(problem(bomb), "takes too many keys"));
}

TEST_CASE("parse_sd_config: deep nesting, cycles and alias bombs end in an error at once") {
    for (const std::string piece : {"[", "{", "- ", "? ", "{a: "}) {
        std::string deep;
        for (int i = 0; i < 20000; ++i) deep += piece;
        CHECK(contains(problem(deep), "nested too deeply"));
    }
    CHECK(contains(problem("&a {role: pod, namespaces: *a}"), "namespaces.role: unknown key"));
    CHECK(contains(problem("role: pod\nnamespaces: {names: &n [*n]}"), "must be a text"));
    std::string bomb = "a0: &a0 [x, x]\n";
    for (int i = 1; i < 100; ++i) {
        const std::string last = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last +
                "]\n";
    }
    CHECK(problem(bomb).starts_with("sd.yaml:1: a0: unknown key"));
}

TEST_CASE("parse_sd_config: an endless sequence of documents is an error and comes to an end") {
    for (const std::string yaml : {",", ", r", ",,,,", "role: pod\n---\n,", "\n  ,\nrole: pod"}) {
        INFO(yaml);
        CHECK(contains(problem(yaml), "YAML syntax: "));
    }
    for (const std::string yaml :
         {"]", "}", ":", "?", "-", "&", "*", "!", "|", ">", "%", "@", "`"}) {
        INFO(yaml);
        CHECK_FALSE(problem(yaml).empty());
    }
}

TEST_CASE("parse_sd_config: every byte of a valid text may be replaced without a crash") {
    const std::string yaml = "role: pod\nselectors:\n- {role: pod, label: \"a=b\"}\n"
                             "namespaces: &a\n  names: [x]\ntls_config: {key: |\n";
    for (std::size_t i = 0; i < yaml.size(); ++i) {
        for (const char c : std::string("\0\n:{[]}\"'&*!|>%@-?#\xff", 20)) {
            std::string broken = yaml;
            broken[i] = c;
            const std::string text = problem(broken);
            CHECK((text.empty() || text.starts_with("sd.yaml:")));
        }
    }
}

TEST_CASE("load_sd_config: relative paths are relative to the file's directory") {
    const TemporaryDirectory directory;
    const std::string path = directory.write(
        "sub/sd.yaml",
        with_server("authorization: {credentials_file: token}\ntls_config: {ca_file: "
                    "/abs/ca, cert_file: ../c, key_file: k}\n"));
    const ApiServerConfig server = load_sd_config(path, P).api_server;
    CHECK(server.auth.bearer_token_file == directory.path("sub/token"));
    CHECK(server.tls.ca_file == "/abs/ca");
    CHECK(server.tls.cert_file == directory.path("sub/../c"));
    CHECK(server.tls.key_file == directory.path("sub/k"));
    const std::string other = directory.write("o.yaml", "role: pod\nkubeconfig_file: kc\n");
    CHECK(load_sd_config(other, V).kubeconfig_file == directory.path("kc"));

    const std::string missing = directory.path("none.yaml");
    CHECK(config_error([&] { load_sd_config(missing, P); }) ==
          missing + ": cannot be read: No such file or directory");
}
