#include "k8s_sd/detail/groups/group_making.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;
using k8s_sd::detail::Turns;

TEST_CASE("Turns: each call has a handler of its own, after those that the previous one posted") {
    asio::io_context context;
    const auto turns = std::make_shared<Turns>();
    std::string order;
    for (const char name : {'a', 'b', 'c'}) {
        turns->request(context.get_executor(), std::weak_ptr(turns), [&, name] {
            order += name;
            asio::post(context, [&order] { order += '.'; });
        });
    }
    CHECK(context.run_one() == 1);
    CHECK(order == "a");
    context.run();
    CHECK(order == "a.b.c.");
}

TEST_CASE("Turns: a call may request another one, and the end of the owner drops the rest") {
    asio::io_context context;
    auto turns = std::make_shared<Turns>();
    std::string order;
    const auto request = [&](std::function<void()> call) {
        turns->request(context.get_executor(), std::weak_ptr(turns), std::move(call));
    };
    request([&] {
        order += 'a';
        request([&] {
            order += 'b';
            turns.reset();
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

TEST_CASE("Turns: a call that continues comes before all that wait") {
    asio::io_context context;
    const auto turns = std::make_shared<Turns>();
    std::string order;
    const std::weak_ptr owner = turns;
    turns->request(context.get_executor(), owner, [&] {
        order += 'a';
        turns->request_first(context.get_executor(), owner, [&] { order += 'A'; });
    });
    turns->request(context.get_executor(), owner, [&] { order += 'b'; });
    context.run();
    CHECK(order == "aAb");
}
