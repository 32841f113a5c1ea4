#include "jobs/left_out.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

using k8s_sd_program::LeftOut;

TEST_CASE("LeftOut: a job with mistakes is left out, another one is not there") {
    const LeftOut left_out({{"b", "p.yml:3: x", "no"}, {"b", "p.yml:4: y", "neither"}});
    CHECK_FALSE(left_out.empty());
    CHECK(left_out.why("b") == "job b is left out: p.yml:3: x: no\np.yml:4: y: neither");
    CHECK_FALSE(left_out.why("c"));
    CHECK(left_out.names() == std::set<std::string>{"b"});
    CHECK(left_out.lines() ==
          "job b is left out: p.yml:3: x: no\njob b is left out: p.yml:4: y: neither\n");
}

TEST_CASE("LeftOut: a mistake that hides a name may hide any name") {
    const LeftOut left_out({{"", "p.yml:3: job_name", "is missing"}});
    CHECK(left_out.why("any") ==
          "there is no job any, but a part of the configuration is left out: "
          "p.yml:3: job_name: is missing");
    CHECK(left_out.lines() ==
          "a part of the configuration is left out: p.yml:3: job_name: is missing\n");
}

TEST_CASE("LeftOut: without mistakes nothing is left out") {
    CHECK(LeftOut().empty());
    CHECK(LeftOut().lines().empty());
    CHECK_FALSE(LeftOut().why("a"));
}
