#include "k8s_sd/detail/groups/shared_groups.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd;
using namespace k8s_sd::test;
using detail::SharedGroups;

namespace {

struct SomeObject final : Object {
    SomeObject() : Object(Kind::pod, "uid") {}
    bool same_content(const Object&) const noexcept override { return false; }
};

}  // namespace

TEST_CASE("SharedGroups: a group is known as long as one of its users") {
    SharedGroups shared;
    const SomeObject one, other;
    CHECK(shared.join(one) == nullptr);
    const TargetGroupPtr group = make_group("pod/a/one", {{{"__address__", "1"}}});
    shared.add(one, group);
    CHECK(shared.join(other) == nullptr);
    CHECK(shared.join(one) == group);
    CHECK(shared.size() == 1);
    shared.leave(one);
    CHECK(shared.join(one) == group);
    shared.leave(one);
    shared.leave(one);
    CHECK(shared.join(one) == nullptr);
    CHECK(shared.size() == 0);
}

TEST_CASE("SharedGroups: one view alone shares nothing") {
    SharedGroups shared;
    CHECK_FALSE(shared.has_several_views());
    shared.add_view();
    CHECK_FALSE(shared.has_several_views());
    shared.add_view();
    CHECK(shared.has_several_views());
    shared.remove_view();
    CHECK_FALSE(shared.has_several_views());
}
