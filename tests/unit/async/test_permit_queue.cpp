#include "k8s_sd/detail/async/permit_queue.hpp"
#include "support/full_executor.hpp"
#include "support/held_executor.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

/// Requests with names, and the permits granted to them.
struct PermitQueueFixture {
    using Names = std::vector<std::string>;
    using Permit = PermitQueue::Permit;
    using RequestHandle = PermitQueue::RequestHandle;
    using Urgency = PermitQueue::Urgency;

    explicit PermitQueueFixture(PermitQueue::Limit limit)
        : queue(
              std::make_shared<PermitQueue>(limit, PermitQueue::Gauges{granted, waiting}, clock)) {}

    /// Keeps its permit, and records the grant.
    RequestHandle ask(const std::string& name, Urgency urgency = Urgency::normal) {
        return queue->async_permit(
            context.get_executor(),
            [this, name](Permit permit) {
                CHECK(permit);
                served.push_back(name);
                permits.push_back(std::move(permit));
            },
            urgency);
    }
    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    std::shared_ptr<Metrics::Gauge> granted = std::make_shared<Metrics::Gauge>(0);
    std::shared_ptr<Metrics::Gauge> waiting = std::make_shared<Metrics::Gauge>(0);
    Names served;
    std::vector<Permit> permits;
    std::shared_ptr<PermitQueue> queue;
};

}  // namespace

TEST_CASE("PermitQueue: requests wait for their turn, first come, first served") {
    PermitQueueFixture f({.permits = 2});
    std::vector<PermitQueue::RequestHandle> handles;
    for (const char* name : {"a", "b", "c", "d"}) handles.push_back(f.ask(name));
    CHECK(f.served.empty());  // posted
    CHECK(*f.waiting == 2);
    CHECK(*f.granted == 2);
    f.settle();
    CHECK(f.served == PermitQueueFixture::Names{"a", "b"});
    f.permits.erase(f.permits.begin());
    CHECK(f.served.size() == 2);
    f.settle();
    CHECK(f.served == PermitQueueFixture::Names{"a", "b", "c"});
    f.permits.clear();
    f.settle();
    CHECK(f.served == PermitQueueFixture::Names{"a", "b", "c", "d"});
    CHECK(*f.waiting == 0);
    CHECK(*f.granted == 1);
    f.permits.clear();
    CHECK(*f.granted == 0);
}

TEST_CASE("PermitQueue: urgent requests go first, in their order") {
    PermitQueueFixture f({.permits = 1});
    const auto urgent = PermitQueue::Urgency::urgent;
    std::vector<PermitQueue::RequestHandle> handles;
    handles.push_back(f.ask("running"));
    handles.push_back(f.ask("normal 1"));
    handles.push_back(f.ask("urgent 1", urgent));
    handles.push_back(f.ask("normal 2"));
    handles.push_back(f.ask("urgent 2", urgent));
    for (int i = 0; i < 5; ++i) {
        f.settle();
        f.permits.clear();
    }
    CHECK(f.served ==
          PermitQueueFixture::Names{"running", "urgent 1", "urgent 2", "normal 1", "normal 2"});
}

TEST_CASE("PermitQueue: reserved permits are for urgent requests only") {
    PermitQueueFixture f({.permits = 3, .reserved = 1});
    const auto urgent = PermitQueue::Urgency::urgent;
    std::vector<PermitQueue::RequestHandle> handles;
    for (const char* name : {"a", "b", "c"}) handles.push_back(f.ask(name));
    f.settle();
    CHECK(f.served == PermitQueueFixture::Names{"a", "b"});
    CHECK_FALSE(f.queue->try_permit());
    f.permits.push_back(f.queue->try_permit(urgent));
    CHECK(f.permits.back());
    CHECK_FALSE(f.queue->try_permit(urgent));
    f.permits.pop_back();
    f.settle();
    CHECK(f.served.size() == 2);  // the reserved permit stays free
    f.permits.pop_back();
    f.settle();
    CHECK(f.served == PermitQueueFixture::Names{"a", "b", "c"});
}

TEST_CASE("PermitQueue: a limit of zero is none") {
    PermitQueueFixture f({});
    std::vector<PermitQueue::RequestHandle> handles;
    for (int i = 0; i < 100; ++i) handles.push_back(f.ask("any"));
    f.settle();
    CHECK(f.permits.size() == 100);
    CHECK(f.queue->try_permit());
    CHECK(*f.granted == 100);
}

TEST_CASE("PermitQueue: a permit without a queue is granted only while no request waits") {
    PermitQueueFixture f({.permits = 1});
    std::optional<PermitQueue::Permit> first = f.queue->try_permit();
    REQUIRE(*first);
    CHECK_FALSE(f.queue->try_permit());
    const PermitQueue::RequestHandle waiting = f.ask("queued");
    first.reset();
    CHECK_FALSE(f.queue->try_permit());  // it is granted already
    f.settle();
    CHECK(f.served == PermitQueueFixture::Names{"queued"});
    f.permits.clear();
    CHECK(f.queue->try_permit());
}

TEST_CASE("PermitQueue: a request that was withdrawn is not served, wherever it was") {
    PermitQueueFixture f({.permits = 1});
    std::optional<PermitQueue::RequestHandle> granted = f.ask("granted");
    std::optional<PermitQueue::RequestHandle> second = f.ask("second");
    const PermitQueue::RequestHandle third = f.ask("third");
    SECTION("still in line") {
        second.reset();
        CHECK(*f.waiting == 1);
        f.settle();
        CHECK(f.served == PermitQueueFixture::Names{"granted"});
        f.permits.clear();
    }
    SECTION("granted, but not delivered: the permit goes to the next request at once") {
        granted.reset();
        second.reset();
        CHECK(*f.granted == 1);
    }
    f.settle();
    CHECK(f.served.back() == "third");
    f.permits.clear();
    CHECK(*f.granted == 0);
    CHECK(*f.waiting == 0);
}

TEST_CASE("PermitQueue: a handler may end and begin whatever it likes") {
    PermitQueueFixture f({.permits = 1});
    PermitQueue::RequestHandle own, other;
    std::vector<PermitQueue::RequestHandle> more;
    own = f.queue->async_permit(f.context.get_executor(), [&](PermitQueue::Permit permit) {
        own.reset();
        other.reset();
        more.push_back(f.ask("of the handler"));
        permit.reset();
        CHECK_FALSE(f.queue->try_permit());
        f.served.push_back("first");
    });
    other = f.ask("other");
    f.settle();
    CHECK(f.served == PermitQueueFixture::Names{"first", "of the handler"});
}

TEST_CASE("PermitQueue: the state of a handler may own handles and permits") {
    PermitQueueFixture f({.permits = 1});
    auto owned = std::make_shared<std::pair<PermitQueue::RequestHandle, PermitQueue::Permit>>();
    owned->second = f.queue->try_permit();
    owned->first = f.ask("owned");
    PermitQueue::RequestHandle owner = f.queue->async_permit(
        f.context.get_executor(), [o = std::move(owned)](const PermitQueue::Permit&) {});
    owner.reset();
    CHECK(*f.granted == 0);
    CHECK(*f.waiting == 0);
    f.settle();
    CHECK(f.served.empty());
}

TEST_CASE("PermitQueue: a stopped executor keeps no permit, however many requests wait") {
    PermitQueueFixture f({.permits = 1});
    std::vector<PermitQueue::RequestHandle> handles;
    std::vector<test::HeldExecutor> executors;
    {
        asio::io_context ended;
        const test::HeldExecutor held(ended);
        executors.push_back(held);
        PermitQueue::Permit permit = f.queue->try_permit();
        for (int i = 0; i < 10'000; ++i) {
            handles.push_back(
                f.queue->async_permit(held, [](const PermitQueue::Permit&) { FAIL(); }));
        }
        permit.reset();
        held.let_go();
    }
    const PermitQueue::RequestHandle last = f.ask("last");
    handles.clear();
    f.settle();
    CHECK(f.served == PermitQueueFixture::Names{"last"});
    executors.front().let_go();  // the handler arrives after the end of its context
}

TEST_CASE("PermitQueue: a request without memory for its handler waits for the next hand-out") {
    PermitQueueFixture f({.permits = 2});
    bool full = true;
    const auto first = f.queue->async_permit(test::FullExecutor{&f.context, &full},
                                             [&](PermitQueue::Permit permit) {
                                                 f.served.push_back("first");
                                                 f.permits.push_back(std::move(permit));
                                             });
    CHECK(*f.granted == 0);
    CHECK(*f.waiting == 1);
    SECTION("after a pause") {
        full = false;
        f.settle();
        CHECK(f.served.empty());
        f.clock->advance(Reminder::pause);
        f.settle();
        CHECK(f.served == PermitQueueFixture::Names{"first"});
    }
    SECTION("of a request") {
        full = false;
        const auto second = f.ask("second");
        f.settle();
        CHECK(f.served == PermitQueueFixture::Names{"first", "second"});
        CHECK(*f.waiting == 0);
    }
    SECTION("of a returned permit") {
        PermitQueue::Permit other = f.queue->try_permit();
        CHECK_FALSE(other);  // an earlier request waits
        full = false;
        const auto second = f.ask("second");
        full = true;
        const auto third =
            f.queue->async_permit(test::FullExecutor{&f.context, &full},
                                  [&](const PermitQueue::Permit&) { f.served.push_back("third"); });
        f.settle();
        f.permits.pop_back();
        CHECK(*f.waiting == 1);
        full = false;
        f.permits.pop_back();
        f.settle();
        CHECK(f.served == PermitQueueFixture::Names{"first", "second", "third"});
    }
    SECTION("unless it is withdrawn") {
        full = false;
        const auto second = f.ask("second");
        {
            auto withdrawn = f.queue->async_permit(
                test::FullExecutor{&f.context, &full},
                [&](const PermitQueue::Permit&) { f.served.push_back("withdrawn"); });
        }
        f.settle();
        CHECK(f.served == PermitQueueFixture::Names{"first", "second"});
    }
}

}  // namespace k8s_sd::detail
