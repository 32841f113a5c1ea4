#include "k8s_sd/detail/base/first_exception.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <stdexcept>
#include <string>

namespace k8s_sd::detail {

TEST_CASE("FirstException: all calls are made, and the first exception is rethrown at the end") {
    FirstException problem;
    problem.rethrow();
    std::string made;
    for (const char call : std::string("abcd")) {
        problem.catch_from([&] {
            made += call;
            if (call == 'b' || call == 'd') throw std::runtime_error(std::string("at ") + call);
        });
    }
    CHECK(made == "abcd");
    CHECK_THROWS_MATCHES(problem.rethrow(), std::runtime_error, Catch::Matchers::Message("at b"));
}

}  // namespace k8s_sd::detail
