#include "k8s_sd/detail/watch/list_plan.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace k8s_sd::detail {
namespace {

ListPlan plan(unsigned page_size = 500, std::size_t max_objects = 100'000) {
    return ListPlan({.max_objects = max_objects, .page_size = page_size});
}

TEST_CASE("ListPlan: the same token twice in a row is no list that ends") {
    ListPlan p = plan();
    CHECK_FALSE(p.problem_of({"7", "a", 500}));
    p.add({"7", "a", 500});
    CHECK(p.problem_of({"7", "a", 500}) == errc::endless_list);
    CHECK_FALSE(p.problem_of({"7", "b", 500}));
    CHECK_FALSE(p.problem_of({"7", "", 500}));
}

TEST_CASE("ListPlan: a page that is older than the first one belongs to another list") {
    ListPlan p = plan();
    p.add({"70", "a", 500});
    CHECK(p.problem_of({"9", "", 1}) == errc::malformed_response);
    CHECK_FALSE(p.problem_of({"71", "", 1}));  // of a server that pages at its current state
    CHECK_FALSE(p.problem_of({"x", "", 1}));
}

TEST_CASE("ListPlan: a hundred nearly empty pages are enough, full ones are not counted") {
    ListPlan p = plan();
    for (int i = 0; i < 150; ++i) p.add({"7", "full" + std::to_string(i), 500});
    for (int i = 0; i < 100; ++i) {
        CHECK_FALSE(p.problem_of({"7", "t" + std::to_string(i), 2}));
        p.add({"7", "t" + std::to_string(i), 2});
    }
    CHECK(p.problem_of({"7", "more", 2}) == errc::endless_list);
    CHECK_FALSE(p.problem_of({"7", "", 2}));
}

TEST_CASE("ListPlan: a small page size does not make pages short, an empty one is") {
    ListPlan p = plan(1);
    for (int i = 0; i < 300; ++i) {
        CHECK_FALSE(p.problem_of({"7", std::to_string(i), 1}));
        p.add({"7", std::to_string(i), 1});
    }
    for (int i = 0; i < 100; ++i) p.add({"7", "e" + std::to_string(i), 0});
    CHECK(p.problem_of({"7", "more", 0}) == errc::endless_list);
}

TEST_CASE("ListPlan: pages that bring more than may be are too many, also at the end") {
    ListPlan p = plan(500, 1200);
    p.add({"7", "a", 500});
    p.add({"7", "b", 500});
    CHECK_FALSE(p.problem_of({"7", "", 200}));
    CHECK(p.problem_of({"7", "", 201}) == errc::too_many_objects);
    p.on_failure(true);  // starts again
    CHECK_FALSE(p.problem_of({"7", "", 1200}));
}

TEST_CASE("ListPlan: a server that pages a list that was asked for in one piece is followed") {
    ListPlan p = plan();
    CHECK(p.next("5", false).limit == 0);
    p.add({"7", "a", 10});
    CHECK(p.in_chain());
    CHECK(p.next("5", false).continue_token == "a");
    CHECK(p.next("5", false).resource_version.empty());
    p.add({"8", "", 10});
    CHECK_FALSE(p.in_chain());
    CHECK(p.finish() == "7");
}

TEST_CASE("ListPlan: without a page size there is no other form to try") {
    ListPlan p = plan(0);
    CHECK(p.next("5", false).resource_version == "5");
    for (int i = 0; i < 10; ++i) p.on_failure();
    CHECK(p.next("5", false).resource_version == "");  // the most recent state needs no version
    CHECK(p.next("5", false).limit == 0);
}

TEST_CASE("ListPlan: as long as another form is untried the wait for an answer is short") {
    ListPlan p = plan();
    CHECK(p.next("5", false).hasty);
    p.on_failure(true);
    CHECK_FALSE(p.next("5", false).hasty);
    p.finish();
    p.know({.slow = true});
    CHECK_FALSE(p.next("5", false).hasty);
}

TEST_CASE("ListPlan: the form that is known to get through is asked for first") {
    ListPlan p = plan();
    p.know({.shape = ListShape::pages});
    CHECK(p.next("5", false).limit == 500);
    CHECK(p.next("5", false).resource_version.empty());
    p.finish();
    p.know({.shape = ListShape::whole});
    CHECK(p.next("", false).limit == 0);
}

}  // namespace
}  // namespace k8s_sd::detail
