#include "k8s_sd/detail/async/reader.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <stdexcept>

using namespace k8s_sd;
namespace asio = boost::asio;

TEST_CASE("NextOperation: a call posted after its end, as a delivery may, runs") {
    asio::io_context context;
    int ended = 0, called = 0;
    detail::NextOperation<int, int> operation([&](error_code, int) { ++ended; },
                                              context.get_executor(),
                                              [](const int& diff) { return diff; });
    operation.fail(asio::error::operation_aborted);
    operation.post([&] { ++called; });
    context.run();
    CHECK(ended == 1);
    CHECK(called == 1);
}

TEST_CASE("NextOperation: it ends once, though its handler may throw within the first attempt") {
    asio::io_context context;
    int ended = 0;
    detail::NextOperation<int, int> operation(
        [&](error_code, int) {
            ++ended;
            throw std::runtime_error("of the host");
        },
        context.get_executor(), [](const int& diff) { return diff; });
    operation.prepare(1);
    CHECK_THROWS_AS(operation.finish_here(), std::runtime_error);
    operation.fail(asio::error::operation_aborted);
    context.run();
    CHECK(ended == 1);
}
