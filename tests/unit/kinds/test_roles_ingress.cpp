#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

std::string ingress(const std::string& spec, const std::string& meta = "") {
    return R"({"metadata":{"name":"i","namespace":"default")" + meta + R"(},"spec":{)" + spec +
           "}}";
}
std::vector<LabelMap> targets(const std::string& json, LabelDialect dialect = prom) {
    return World(dialect).add(Kind::ingress, json).targets(Role::ingress, "default", "i");
}
/// "scheme://host/path" of each target; the address is the host.
std::vector<std::string> urls(const std::string& spec, LabelDialect dialect = prom) {
    std::vector<std::string> all;
    for (const LabelMap& target : targets(ingress(spec), dialect)) {
        CHECK(value(target, "__address__") == value(target, "~ingress_host"));
        all.push_back(value(target, "~ingress_scheme") + "://" + value(target, "__address__") +
                      value(target, "~ingress_path"));
    }
    return all;
}
using Urls = std::vector<std::string>;

/// The scheme of a rule's host with one TLS pattern.
std::string scheme(const std::string& pattern, const std::string& host, LabelDialect dialect) {
    const std::string spec =
        R"("rules":[{"host":")" + host + R"("}],"tls":[{"hosts":[")" + pattern + R"("]}])";
    return value(targets(ingress(spec), dialect).at(0), "~ingress_scheme");
}

const std::string rules43 =
    R"("rules":[{"host":"example.com","http":{"paths":[{"path":"/"},{"path":"/foo"}]}},
    {"host":"nobackend.example.com","http":{"paths":[]}},{"host":"test.example.com",
        "http":{"paths":[{"path":""}]}},
    {"host":"bare.example.com"}])";

}  // namespace

TEST_CASE("Role ingress: each path of each rule is a target") {
    const Urls of_prometheus{"http://example.com/", "http://example.com/foo",
                             "http://test.example.com/", "http://bare.example.com/"};
    CHECK(urls(rules43, prom) == of_prometheus);
    const Urls of_vmagent{"http://example.com/", "http://example.com/foo",
                          "http://nobackend.example.com/", "http://test.example.com/",
                          "http://bare.example.com/"};
    CHECK(urls(rules43, vm) == of_vmagent);
}

TEST_CASE("Role ingress: the group has name, namespace, class and metadata") {
    World world;
    const std::string json =
        ingress(R"("ingressClassName":"testclass",)" + rules43, R"(,"labels":{"a":"b"})");
    const auto group = world.add(Kind::ingress, json).group(Role::ingress, "default", "i");
    CHECK(group->source() == "ingress/default/i");
    CHECK(group->labels().to_map() == labels({{"~namespace", "default"},
                                              {"~ingress_name", "i"},
                                              {"~ingress_class_name", "testclass"}}) +
                                          family("ingress_label", {{"a", "b"}}));
    CHECK((*group)[0].to_map() == labels({{"__address__", "example.com"},
                                          {"~ingress_scheme", "http"},
                                          {"~ingress_host", "example.com"},
                                          {"~ingress_path", "/"}}));
    CHECK_FALSE(has_family(targets(ingress(rules43)).at(0), "~ingress_class_name"));
}

TEST_CASE("Role ingress: hosts of TLS entries make https") {
    for (const LabelDialect dialect : dialects) {
        const auto with_tls = [&](const std::string& tls) {
            return urls(rules43 + R"(,"tls":)" + tls, dialect);
        };
        const auto https = [&](const std::string& tls) {
            Urls all;
            for (const std::string& url : with_tls(tls)) {
                if (url.starts_with("https://")) all.push_back(url.substr(8));
            }
            return all;
        };
        CHECK(https(R"([{"hosts":["example.com","test.example.com"]}])") ==
              Urls{"example.com/", "example.com/foo", "test.example.com/"});
        CHECK(https(R"([{"hosts":["other"]},{"hosts":["test.example.com"]}])") ==
              Urls{"test.example.com/"});
        CHECK(https(R"([{"hosts":["example.com"]}])") == Urls{"example.com/", "example.com/foo"});
        const Urls wild = dialect == prom ? Urls{"test.example.com/", "bare.example.com/"}
                                          : Urls{"nobackend.example.com/", "test.example.com/",
                                                 "bare.example.com/"};
        CHECK(https(R"([{"hosts":["*.example.com"]}])") == wild);
        CHECK(https("[]").empty());
        CHECK(https("[{}]").empty());
        CHECK(https(R"([{"hosts":[]},{"secretName":"s"}])").empty());
    }
}

TEST_CASE("Role ingress: a wildcard stands for exactly one DNS label") {
    struct Row {
        const char *pattern, *host, *scheme;
    };
    for (const LabelDialect dialect : dialects) {
        for (const Row& row :
             std::initializer_list<Row>{{"", "", "https"},
                                        {"", "foo", "http"},
                                        {"foo", "", "http"},
                                        {"foo", "foo", "https"},
                                        {"localhost", "localhost2", "http"},
                                        {"*.foo", "bar", "http"},
                                        {"a.x.yyy", "b.x.yyy", "http"},
                                        {"*.x.yyy", "b.x.yyy", "https"},
                                        {"*.x.yyy", "x.yyy", "http"},
                                        {"*.x.yyy", "a.b.x.yyy", "http"},
                                        {"*.example.com", "*.example.com", "https"},
                                        {"*.example.com", "a.b.example.com", "http"},
                                        {"*.example.com", "aexample.com", "http"},
                                        {"a.*.com", "a.b.com", "http"},
                                        {"a.*.com", "a.*.com", "https"},
                                        {"*x.com", "ax.com", "http"},
                                        {"*.", "a.", "https"},
                                        {"*.com", ".com", "https"}}) {
            CAPTURE(row.pattern, row.host, to_string(dialect));
            CHECK(scheme(row.pattern, row.host, dialect) == row.scheme);
        }
    }
}

TEST_CASE("Role ingress: a lone * matches hosts of one DNS label with Prometheus only") {
    for (const char* host : {"localhost", ""}) {
        CHECK(scheme("*", host, prom) == "https");
        CHECK(scheme("*", host, vm) == "http");
    }
    for (const LabelDialect dialect : dialects) {
        CHECK(scheme("*", "a.b", dialect) == "http");
        CHECK(scheme("*", "*", dialect) == "https");
    }
}

TEST_CASE("Role ingress: a rule without a host has an empty address") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        const auto group =
            world.add(Kind::ingress, ingress(R"("rules":[{"http":{"paths":[{"path":"/x"}]}}])"))
                .group(Role::ingress, "default", "i");
        REQUIRE(group != nullptr);
        CHECK((*group)[0].get("__address__") == "");
        CHECK((*group)[0].get("__meta_kubernetes_ingress_path") == "/x");
    }
}

TEST_CASE("Role ingress: without rules there is no target") {
    for (const LabelDialect dialect : dialects) {
        CHECK(targets(ingress(R"("defaultBackend":{})"), dialect).empty());
        CHECK(targets(ingress(R"("rules":[])"), dialect).empty());
    }
}

TEST_CASE("Role ingress: an empty class is a class") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        const auto group =
            world
                .add(Kind::ingress, ingress(R"("ingressClassName":"","rules":[{"host":"foobar"}])"))
                .group(Role::ingress, "default", "i");
        CHECK(group->labels().get("__meta_kubernetes_ingress_class_name") == "");
        CHECK(group->merged(0) == labels({{"__address__", "foobar"},
                                          {"~namespace", "default"},
                                          {"~ingress_name", "i"},
                                          {"~ingress_host", "foobar"},
                                          {"~ingress_path", "/"},
                                          {"~ingress_scheme", "http"}}));
    }
}

TEST_CASE(
    "Role ingress: attach_metadata.namespace adds the namespace's metadata, the others nothing") {
    for (const LabelDialect dialect : dialects) {
        World world(
            dialect,
            {.node = true, .namespace_ = true, .deployment = true, .job = true, .cronjob = true});
        const std::string json = ingress(R"("rules":[{"host":"h"}])");
        const LabelMap plain = targets(json, dialect).at(0);
        CHECK(world.add(Kind::ingress, json).targets(Role::ingress, "default", "i").at(0) == plain);
        CHECK(world.asked() == std::set<World::Key>{{Kind::namespace_, "", "default"}});
        world.add(Kind::namespace_, R"({"metadata":{"name":"default","labels":{"x":"y"}}})");
        CHECK(world.targets(Role::ingress, "default", "i").at(0) ==
              plain + family("namespace_label", {{"x", "y"}}));
    }
}

TEST_CASE("Role ingress: what reaches no label is no change of an ingress, the rest is one") {
    const auto object = [](World& world, const std::string& json) -> const Object& {
        return world.add(Kind::ingress, json).object(Kind::ingress, "default", "i");
    };
    World base, same;
    const Object& i = object(base, ingress(R"("rules":[{"host":"h"}])"));
    CHECK(i.same_content(object(
        same,
        ingress(R"("rules":[{"host":"h"}],"tls":[{"hosts":["other"]}],"defaultBackend":{})"))));
    for (const char* other :
         {R"("rules":[{"host":"g"}])", R"("rules":[{"host":"h"}],"tls":[{"hosts":["h"]}])",
          R"("rules":[{"host":"h"}],"ingressClassName":"")",
          R"("rules":[{"host":"h"},{"host":"h"}])"}) {
        World world;
        CHECK_FALSE(i.same_content(object(world, ingress(other))));
    }
}
