#include "k8s_sd/detail/groups/group_making.hpp"
#include "support/full_executor.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace asio = boost::asio;
using k8s_sd::detail::CallQueue;

TEST_CASE(
    "CallQueue: each call has a handler of its own, after those that the previous one posted") {
    asio::io_context context;
    const auto calls = std::make_shared<CallQueue>();
    std::string order;
    for (const char name : {'a', 'b', 'c'}) {
        calls->request(context.get_executor(), std::weak_ptr(calls), [&, name] {
            order += name;
            asio::post(context, [&order] { order += '.'; });
        });
    }
    CHECK(context.run_one() == 1);
    CHECK(order == "a");
    context.run();
    CHECK(order == "a.b.c.");
}

TEST_CASE("CallQueue: a call may request another one, and the end of the owner drops the rest") {
    asio::io_context context;
    auto calls = std::make_shared<CallQueue>();
    std::string order;
    const auto request = [&](std::function<void()> call) {
        calls->request(context.get_executor(), std::weak_ptr(calls), std::move(call));
    };
    request([&] {
        order += 'a';
        request([&] {
            order += 'b';
            calls.reset();
        });
    });
    request([&] { order += 'c'; });
    request([&] { order += 'd'; });
    // The handler of a call keeps the owner alive until its end.
    context.run_one();
    request([&] { order += 'e'; });
    context.run();
    CHECK(order == "acdb");
}

TEST_CASE("CallQueue: a call that continues comes before all that wait") {
    asio::io_context context;
    const auto calls = std::make_shared<CallQueue>();
    std::string order;
    const std::weak_ptr owner = calls;
    calls->request(context.get_executor(), owner, [&] {
        order += 'a';
        calls->request_first(context.get_executor(), owner, [&] { order += 'A'; });
    });
    calls->request(context.get_executor(), owner, [&] { order += 'b'; });
    context.run();
    CHECK(order == "aAb");
}

TEST_CASE("CallQueue: a call that throws does not stop those that wait") {
    asio::io_context context;
    const auto calls = std::make_shared<CallQueue>();
    std::string order;
    const std::weak_ptr owner = calls;
    calls->request(context.get_executor(), owner, [] { throw std::bad_alloc(); });
    calls->request(context.get_executor(), owner, [&] { order += 'b'; });
    CHECK_THROWS_AS(context.run(), std::bad_alloc);
    context.run();
    CHECK(order == "b");
}

TEST_CASE("CallQueue: a call without memory for its handler does not wait, and delays no other") {
    asio::io_context context;
    bool full = true;
    const k8s_sd::test::FullExecutor strand{&context, &full};
    const auto calls = std::make_shared<CallQueue>();
    std::string order;
    const std::weak_ptr owner = calls;
    CHECK_THROWS_AS(calls->request(strand, owner, [&] { order += 'a'; }), std::bad_alloc);
    CHECK_THROWS_AS(calls->request_first(strand, owner, [&] { order += 'b'; }), std::bad_alloc);
    full = false;
    calls->request(strand, owner, [&] { order += 'c'; });
    context.run();
    CHECK(order == "c");
}
