#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/api/service.hpp"
#include "k8s_sd/detail/watch/selection.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd;
using k8s_sd::detail::DecodedObject;
using k8s_sd::detail::Selection;

namespace {

api::Pod example_pod() {
    api::Pod pod;
    pod.metadata.name = "web-1";
    pod.metadata.namespace_ = "shop";
    pod.metadata.labels = {{"app", "web"}, {"example.com/tier", "a"}, {"empty", ""}, {"n", "5"}};
    pod.spec.node_name = "node-1";
    pod.status.phase = "Running";
    pod.status.pod_ip = "10.0.0.1";
    return pod;
}

bool selects(const std::string& label, const std::string& field = {},
             const api::Pod& pod = example_pod()) {
    const Selection selection(Kind::pod, label, field);
    CHECK(selection.known_here());
    return selection.matches(DecodedObject{Kind::pod, pod.metadata, &pod});
}

}  // namespace

TEST_CASE("Selection: label selectors match as the server says") {
    for (const char* yes :
         {"", "app=web", "app==web", "app!=db", "other!=web", "app in (db,web)", "app notin (db)",
          "other notin (db)", "app", "!other", "example.com/tier=a", "empty=", "empty", "n>4",
          "n<6", "app=web,!other,n>4", "app in (web,)", "empty in (a,)"}) {
        CAPTURE(yes);
        CHECK(selects(yes));
    }
    for (const char* no : {"app=db", "app!=web", "other=web", "app in (db)", "app notin (db,web)",
                           "!app", "other", "tier=a", "other=", "n>5", "n<5", "app>1", "other>1",
                           "app=web,other", "empty!=", "App=web", "app=Web"}) {
        CAPTURE(no);
        CHECK_FALSE(selects(no));
    }
}

TEST_CASE("Selection: field selectors match as the server says") {
    for (const char* yes :
         {"metadata.name=web-1", "metadata.namespace=shop", "metadata.name!=web-2",
          "spec.nodeName=node-1", "status.phase=Running", "status.phase!=Failed",
          "status.podIP=10.0.0.1", "status.phase==Running,spec.nodeName!="}) {
        CAPTURE(yes);
        CHECK(selects("", yes));
    }
    for (const char* no : {"metadata.name=web", "metadata.namespace!=shop", "spec.nodeName=",
                           "status.phase=Pending", "status.phase=Running,status.podIP="}) {
        CAPTURE(no);
        CHECK_FALSE(selects("", no));
    }
    CHECK_FALSE(selects("app=db", "status.phase=Running"));
    CHECK(selects("", "spec.nodeName=", api::Pod()));
}

TEST_CASE("Selection: of a service, its type and cluster IP are known") {
    api::Service service;
    service.spec.type = "ClusterIP";
    service.spec.cluster_ip = "None";
    const Selection headless(Kind::service, "", "spec.type=ClusterIP,spec.clusterIP=None");
    REQUIRE(headless.known_here());
    CHECK(headless.matches({Kind::service, service.metadata, &service}));
    service.spec.cluster_ip = "10.1.1.1";
    CHECK_FALSE(headless.matches({Kind::service, service.metadata, &service}));
}

TEST_CASE("Selection: other fields are the server's, and so is what cannot be parsed") {
    const auto known = [](Kind kind, const std::string& field) {
        return Selection(kind, "", field).known_here();
    };
    CHECK_FALSE(known(Kind::pod, "spec.restartPolicy=Always"));
    CHECK_FALSE(known(Kind::pod, "spec.hostNetwork=true"));
    CHECK_FALSE(known(Kind::pod, "status.phase=Running,spec.schedulerName=x"));
    CHECK_FALSE(known(Kind::pod, "no.such.field=x"));
    CHECK_FALSE(known(Kind::service, "status.phase=Running"));
    CHECK_FALSE(known(Kind::node, "spec.unschedulable=true"));
    CHECK_FALSE(known(Kind::node, "metadata.namespace=shop"));
    CHECK(known(Kind::node, "metadata.name=n1"));
    CHECK(known(Kind::endpointslice, "metadata.namespace!=shop"));
    CHECK_FALSE(known(Kind::pod, "status.phase"));
    CHECK_FALSE(Selection(Kind::pod, "app in", "").known_here());
}

TEST_CASE("Selection: one name or one node is narrow") {
    const auto narrow = [](const std::string& field) {
        return Selection(Kind::pod, "", field).narrow();
    };
    CHECK(narrow("metadata.name=web-1"));
    CHECK(narrow("status.phase=Running,spec.nodeName=node-1"));
    CHECK_FALSE(narrow("metadata.name!=web-1"));
    CHECK_FALSE(narrow("spec.nodeName!=node-1"));
    CHECK_FALSE(narrow("status.phase=Running"));
    CHECK_FALSE(narrow(""));
}
