#include "k8s_sd/detail/groups/role_groups.hpp"
#include "k8s_sd/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

WatchStatus status_of(Kind kind, const std::string& ns, error_code error = {}) {
    WatchStatus status;
    status.kind = kind;
    status.ns = ns;
    status.error = error;
    return status;
}

}  // namespace

TEST_CASE("OverfullObjects: they are an error of the watch that has them, unless it has another") {
    OverfullObjects objects;
    CHECK(objects.empty());
    const TimePoint first(std::chrono::seconds(7));
    objects.add("a", "x", first);
    objects.add("a", "y", first + std::chrono::seconds(1));
    objects.add("b", "z", first + std::chrono::seconds(2));
    std::vector<WatchStatus> statuses{
        status_of(Kind::service, "a"), status_of(Kind::service, "b"),
        status_of(Kind::service, "c"), status_of(Kind::pod, "a"),
        status_of(Kind::service, ""),  status_of(Kind::service, "b", errc::forbidden)};
    objects.add_to(statuses, Kind::service, 10);
    CHECK(statuses[0].error == errc::too_many_targets);
    CHECK(statuses[0].since == first);
    CHECK(statuses[0].message == "services a/x has more than 10 targets (max_targets_per_object); "
                                 "its previous targets are kept; further such objects: 1");
    CHECK(statuses[1].message == "services b/z has more than 10 targets (max_targets_per_object); "
                                 "its previous targets are kept");
    CHECK_FALSE(statuses[2].error);
    CHECK_FALSE(statuses[3].error);
    CHECK(statuses[4].error == errc::too_many_targets);
    CHECK(statuses[4].message.ends_with("further such objects: 2"));
    CHECK(statuses[5].error == errc::forbidden);
}

TEST_CASE("OverfullObjects: an object that is removed is no error any more") {
    OverfullObjects objects;
    objects.add("", "node", {});
    objects.add("", "node", {});
    objects.remove("", "other");
    objects.remove("ns", "node");
    CHECK_FALSE(objects.empty());
    objects.remove("", "node");
    CHECK(objects.empty());
    std::vector<WatchStatus> statuses{status_of(Kind::node, "")};
    objects.add_to(statuses, Kind::node, 10);
    CHECK_FALSE(statuses[0].error);
}

}  // namespace k8s_sd::detail
