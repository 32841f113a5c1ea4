#include "jobs/expected_providers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

using k8s_sd::TargetOrigin;
using k8s_sd_program::expected_providers;
using k8s_sd_program::ExpectedProviders;
using Providers = std::vector<k8s_sd::ProviderId>;

namespace {

k8s_sd::Job job_of(const std::vector<std::string>& clusters) {
    k8s_sd::Job job;
    for (const std::string& name : clusters) job.configs.push_back({.cluster = {.name = name}});
    return job;
}

}  // namespace

TEST_CASE("Expected providers: configurations of a name are a cluster, all others are needed") {
    k8s_sd::Job job = job_of({"blue", "", "green", "blue"});
    job.static_configs = {{.targets = {"x:1"}}};
    const ExpectedProviders all = expected_providers(job, {1, 2, 3, 4, 5}, {});
    REQUIRE(all.clusters.size() == 2);
    CHECK(all.clusters[0].name == "blue");
    CHECK(all.clusters[0].providers == Providers{1, 4});
    CHECK(all.clusters[1].providers == Providers{3});
    CHECK(all.needed == Providers{2, 5});
    CHECK(all.can_complete());
}

TEST_CASE("Expected providers: an unusable configuration costs its cluster, or the job") {
    const k8s_sd::Job job = job_of({"blue", "", "green"});
    const auto without = [&](TargetOrigin origin, std::size_t index, const Providers& providers) {
        return expected_providers(job, providers, {{origin, index}});
    };
    const ExpectedProviders blue = without(TargetOrigin::kubernetes, 0, {2, 3});
    CHECK_FALSE(blue.clusters[0].usable);
    CHECK(blue.clusters[1].providers == Providers{3});
    CHECK(blue.needed == Providers{2});
    CHECK(blue.can_complete());
    CHECK_FALSE(without(TargetOrigin::kubernetes, 1, {1, 3}).can_complete());
    CHECK_FALSE(without(TargetOrigin::files, 0, {1, 2, 3}).can_complete());
    CHECK_FALSE(
        expected_providers(job_of({"blue"}), {}, {{TargetOrigin::kubernetes, 0}}).can_complete());
}
