#pragma once

#include "support/role_fixture.hpp"

#include <string>
#include <vector>

/// The Endpoints object default/e, its pod default/p, and the targets of both.
namespace k8s_sd::test::endpoints_fixture {

using Addresses = std::vector<std::string>;

inline std::string endpoints(const std::string& subsets, const std::string& meta = "") {
    return R"({"metadata":{"name":"e","namespace":"default")" + meta + R"(},"subsets":[)" +
           subsets + "]}";
}
inline std::vector<LabelMap> targets(World& world) {
    return world.targets(Role::endpoints, "default", "e");
}
inline Addresses addresses(World& world) {
    return world.addresses(Role::endpoints, "default", "e");
}

/// One address with a reference to the pod default/p.
inline std::string backed(const std::string& ports, const std::string& list = "addresses") {
    return endpoints(
        R"({")" + list +
        R"(":[{"ip":"4.3.2.1","targetRef":{"kind":"Pod","name":"p","namespace":"default"}}],
            "ports":[)" +
        ports + "]}");
}
inline std::string pod(const std::string& spec,
                       const std::string& status = R"("podIP":"1.2.3.4","hostIP":"2.3.4.5")",
                       const std::string& ns = "default") {
    return R"({"metadata":{"name":"p","namespace":")" + ns +
           R"(","uid":"d"},"spec":{"nodeName":"testnode",)" + spec + R"(},"status":{)" + status +
           "}}";
}
inline const std::string two_containers =
    R"("containers":[{"name":"c1","image":"i1","ports":[{"name":"mainport","containerPort":9000,
        "protocol":"TCP"}]},
    {"name":"c2","image":"i2","ports":[{"name":"sideport","containerPort":9001,
        "protocol":"TCP"}]}])";
inline const std::string testport = R"({"name":"testport","port":9000,"protocol":"TCP"})";

inline const std::string subsets25 =
    R"({"addresses":[{"ip":"1.2.3.4","hostname":"h1","nodeName":"foobar"}],"ports":[{"name":"p",
        "port":9000,"protocol":"TCP"}]},
    {"addresses":[{"ip":"2.3.4.5"}],"notReadyAddresses":[{"ip":"2.3.4.5"}],"ports":[{"name":"p",
        "port":9001,"protocol":"TCP"}]},
    {"addresses":[{"ip":"6.7.8.9","targetRef":{"kind":"Node","name":"barbaz"}}],
        "ports":[{"name":"p","port":9002,"protocol":"TCP"}]})";

}  // namespace k8s_sd::test::endpoints_fixture
