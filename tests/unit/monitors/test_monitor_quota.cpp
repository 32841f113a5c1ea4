#include "k8s_sd/detail/monitors/quota.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace k8s_sd::test {

namespace {

using detail::QuotaRequest;

/// "1" for each granted request, else "0".
std::string shared(const std::vector<QuotaRequest>& requests, const MonitorQuota& limits) {
    std::string text;
    for (const bool granted : detail::share_quota(requests, limits)) text += granted ? '1' : '0';
    return text;
}

}  // namespace

TEST_CASE("The quota of monitors: everybody has enough") {
    CHECK(shared({}, {.jobs = 1, .bytes = 1}).empty());
    CHECK(shared({{"a", {1, 10}}, {"b", {1, 10}}}, {.jobs = 2, .bytes = 20}) == "11");
}

TEST_CASE("The quota of monitors: namespaces share it equally, in their order") {
    const std::vector<QuotaRequest> requests{{"a", {1, 1}}, {"a", {1, 1}}, {"a", {1, 1}},
                                             {"a", {1, 1}}, {"b", {1, 1}}, {"c", {1, 1}}};
    CHECK(shared(requests, {.jobs = 3, .bytes = 100}) == "100011");
    CHECK(shared(requests, {.jobs = 4, .bytes = 100}) == "110011");
    CHECK(shared(requests, {.jobs = 2, .bytes = 100}) == "100010");
    CHECK(shared(requests, {.jobs = 0, .bytes = 100}) == "000000");
}

TEST_CASE(
    "The quota of monitors: a namespace with large monitors waits for those with small ones") {
    const std::vector<QuotaRequest> requests{
        {"a", {1, 90}}, {"a", {1, 90}}, {"b", {1, 10}}, {"b", {1, 10}}, {"c", {1, 40}}};
    CHECK(shared(requests, {.jobs = 100, .bytes = 100}) == "00111");
    CHECK(shared(requests, {.jobs = 100, .bytes = 150}) == "10111");
}

TEST_CASE("The quota of monitors: the scarcer of jobs and bytes counts") {
    const std::vector<QuotaRequest> requests{
        {"a", {1, 60}}, {"a", {1, 30}}, {"b", {3, 1}}, {"b", {3, 1}}};
    CHECK(shared(requests, {.jobs = 100, .bytes = 70}) == "1011");
    CHECK(shared(requests, {.jobs = 5, .bytes = 1000}) == "1110");
}

TEST_CASE("The quota of monitors: a monitor that does not fit leaves the quota to later ones") {
    CHECK(shared({{"a", {1, 90}}, {"a", {1, 10}}, {"b", {1, 50}}}, {.jobs = 9, .bytes = 60}) ==
          "011");
    CHECK(shared({{"a", {0, 0}}, {"b", {2, 2}}}, {.jobs = 1, .bytes = 1}) == "10");
}

TEST_CASE("QuotaUse: jobs may grow while all of them are within the limits") {
    detail::QuotaUse use({.jobs = 3, .bytes = 100});
    CHECK(use.has_room({0, 0}, {3, 100}));
    CHECK_FALSE(use.has_room({0, 0}, {4, 1}));
    use.replace_used({0, 0}, {2, 60});
    CHECK(use.has_room({0, 0}, {1, 40}));
    CHECK_FALSE(use.has_room({0, 0}, {1, 41}));
    CHECK(use.has_room({1, 30}, {2, 70}));
    use.replace_used({2, 60}, {1, 10});
    CHECK(use.used() == MonitorQuota{1, 10});
}

TEST_CASE("QuotaUse: it is shared out anew if it does not suffice, before or after a change") {
    detail::QuotaUse use({.jobs = 1, .bytes = 100});
    use.replace_needed({0, 0}, {1, 50});
    CHECK_FALSE(use.is_due());
    use.replace_needed({0, 0}, {1, 1});
    CHECK_FALSE(use.suffices());
    CHECK(use.is_due());
    use.set_due(false);
    use.replace_needed({1, 1}, {0, 0});
    CHECK(use.suffices());
    CHECK(use.is_due());
    use.set_due(false);
    use.replace_needed({1, 50}, {0, 0});
    CHECK_FALSE(use.is_due());
}

}  // namespace k8s_sd::test
