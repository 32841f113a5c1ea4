#include "k8s_sd/access.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd;

TEST_CASE("Access rule: it is said in words, and as roles have it") {
    CHECK(to_string(access_to(Kind::node)) == "nodes");
    CHECK(to_string(access_to(Kind::pod)) == "pods in all namespaces");
    CHECK(to_string(access_to(Kind::secret, "shop")) == "secrets in the namespace shop");
    CHECK(to_string(access_to(Kind::job, own_namespace_of_pod)) ==
          "jobs (API group batch) in the namespace of the program's pod");
    CHECK(rule_text(access_to(Kind::pod, "shop")) ==
          R"({apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"]})");
    CHECK(rule_text(access_to(Kind::ingress)) ==
          R"({apiGroups: ["networking.k8s.io"], resources: ["ingresses"], )"
          R"(verbs: ["list", "watch"]})");
}

TEST_CASE("Access rule: what is in no namespace is asked for in none") {
    CHECK(access_to(Kind::namespace_, "shop") == access_to(Kind::namespace_));
    CHECK(access_to(Kind::pod, "shop") != access_to(Kind::pod));
}
