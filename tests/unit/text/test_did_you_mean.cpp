#include "k8s_sd/detail/text/did_you_mean.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <vector>

using k8s_sd::detail::did_you_mean;

namespace {

const std::vector<std::string_view> names{"node", "pod", "service", "endpointslice"};

}  // namespace

TEST_CASE("did_you_mean: the nearest name, whatever the case") {
    CHECK(did_you_mean("pods", names) == " (did you mean pod?)");
    CHECK(did_you_mean("Services", names) == " (did you mean service?)");
    CHECK(did_you_mean("endpointslcie", names) == " (did you mean endpointslice?)");
}

TEST_CASE("did_you_mean: says nothing where nothing is near") {
    CHECK(did_you_mean("deployment", names).empty());
    CHECK(did_you_mean("foo", names).empty());
    CHECK(did_you_mean("po", names).empty());
    CHECK(did_you_mean("", names).empty());
    CHECK(did_you_mean(std::string(65, 'p'), names).empty());
    CHECK(did_you_mean("pods", {}).empty());
}
