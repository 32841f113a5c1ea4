#include "k8s_sd/detail/async/wait_queue.hpp"
#include "support/full_executor.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::detail {
namespace {

using Gauge = Metrics::Gauge;
using Value = std::shared_ptr<int>;
using Values = WaitQueue<Value>;

struct QueueOfValues {
    Values::Handle add(const std::string& name) {
        return queue->add(context.get_executor(), [this, name](const Value& value) {
            order += name + std::to_string(*value) + " ";
        });
    }

    asio::io_context context;
    std::shared_ptr<Gauge> waiting = std::make_shared<Gauge>(0);
    std::shared_ptr<Values> queue = std::make_shared<Values>(waiting);
    std::string order;
};

}  // namespace

TEST_CASE("WaitQueue: requests are granted in order, and each is called once") {
    QueueOfValues f;
    CHECK(f.queue->empty());
    const Values::Handle a = f.add("a"), b = f.add("b");
    CHECK(*f.waiting == 2);
    f.queue->grant_first(std::make_shared<int>(1));
    CHECK(f.order.empty());  // posted
    CHECK(*f.waiting == 1);
    f.queue->grant_first(std::make_shared<int>(2));
    CHECK(f.queue->empty());
    f.context.run();
    CHECK(f.order == "a1 b2 ");
}

TEST_CASE("WaitQueue: without a request a grant is destroyed") {
    QueueOfValues f;
    auto value = std::make_shared<int>(1);
    const std::weak_ptr<int> grant = value;
    f.queue->grant_first(std::move(value));
    CHECK(grant.expired());
}

TEST_CASE("WaitQueue: a withdrawn request is not called, and its grant is destroyed") {
    QueueOfValues f;
    std::optional<Values::Handle> queued = f.add("queued"), granted = f.add("granted");
    const Values::Handle last = f.add("last");
    queued.reset();
    CHECK(*f.waiting == 2);
    auto value = std::make_shared<int>(1);
    const std::weak_ptr<int> grant = value;
    f.queue->grant_first(std::move(value));
    CHECK_FALSE(grant.expired());
    granted.reset();
    CHECK(grant.expired());
    f.queue->grant_first(std::make_shared<int>(2));
    f.context.run();
    CHECK(f.order == "last2 ");
    CHECK(*f.waiting == 0);
}

TEST_CASE("WaitQueue: a notice reaches all requests that wait, and no later one") {
    asio::io_context context;
    const auto queue = std::make_shared<WaitQueue<>>();
    int calls = 0;
    const auto add = [&] { return queue->add(context.get_executor(), [&calls] { ++calls; }); };
    const WaitQueue<>::Handle a = add(), b = add();
    { const WaitQueue<>::Handle withdrawn = add(); }
    queue->grant_all();
    const WaitQueue<>::Handle late = add();
    context.run();
    CHECK(calls == 2);
    CHECK_FALSE(queue->empty());
}

TEST_CASE("WaitQueue: a handler may destroy the other requests and the queue") {
    asio::io_context context;
    auto queue = std::make_shared<WaitQueue<>>();
    WaitQueue<>::Handle first, second;
    int calls = 0;
    first = queue->add(context.get_executor(), [&] {
        ++calls;
        second.reset();
        first.reset();
        queue.reset();
    });
    second = queue->add(context.get_executor(), [&] { ++calls; });
    queue->grant_all();
    context.run();
    CHECK(calls == 1);
}

TEST_CASE("WaitQueue: requests without memory for their handlers wait again, before others") {
    asio::io_context context;
    bool full = true;
    const auto queue = std::make_shared<WaitQueue<>>();
    std::string order;
    const test::FullExecutor scarce{&context, &full};
    const auto a = queue->add(context.get_executor(), [&] { order += 'a'; });
    const auto b = queue->add(scarce, [&] { order += 'b'; });
    const auto c = queue->add(context.get_executor(), [&] { order += 'c'; });
    CHECK_THROWS_AS(queue->grant_all(), std::bad_alloc);
    CHECK(queue->size() == 2);
    context.run();
    CHECK(order == "a");
    full = false;
    const auto d = queue->add(context.get_executor(), [&] { order += 'd'; });
    queue->grant_all();
    context.restart();
    context.run();
    CHECK(order == "abcd");
}

TEST_CASE("WaitQueue: a grant without memory for its handler is destroyed") {
    QueueOfValues f;
    bool full = true;
    auto granted = f.queue->add(test::FullExecutor{&f.context, &full}, [](const Value&) {});
    auto value = std::make_shared<int>(1);
    const std::weak_ptr<int> grant = value;
    CHECK_THROWS_AS(f.queue->grant_first(std::move(value)), std::bad_alloc);
    CHECK(grant.expired());
    CHECK(*f.waiting == 1);
    granted.reset();
    CHECK(f.queue->empty());
    CHECK(*f.waiting == 0);
}

}  // namespace k8s_sd::detail
