#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/store_writer.hpp"
#include "support/full_executor.hpp"
#include "support/settle.hpp"
#include "support/stored_object.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <future>
#include <new>
#include <optional>
#include <utility>

using namespace k8s_sd;
using test::settle;
using test::StoredObject;

namespace {

/// A store, and a host that waits for it.
struct WaitingHost {
    void publish() {
        auto batch = writer.begin();
        batch.publish();
    }
    auto note(std::optional<error_code>& result) {
        return [&result](error_code ec) { result = ec; };
    }

    asio::io_context io, other_io;
    Store<StoredObject> store;
    StoreWriter<StoredObject> writer{store};
    std::optional<error_code> first, second;
};
const error_code aborted = asio::error::operation_aborted;

}  // namespace

TEST_CASE("Store: all waits complete at the first complete state, once and by post") {
    WaitingHost host;
    host.store.async_wait_synced(host.io.get_executor(), host.note(host.first));
    host.store.async_wait_synced(
        host.io.get_executor(),
        asio::bind_executor(host.other_io.get_executor(), host.note(host.second)));
    settle(host.io);
    CHECK_FALSE(host.first);

    host.publish();
    CHECK_FALSE(host.first);
    settle(host.io);
    settle(host.other_io);
    CHECK(host.first == error_code());
    CHECK(host.second == error_code());
    host.first.reset();
    host.publish();
    host.writer.stop();
    settle(host.io);
    CHECK_FALSE(host.first);
}

TEST_CASE("Store: a wait for a synced store completes at once, but not inside the call") {
    WaitingHost host;
    host.publish();
    host.writer.stop();
    host.store.async_wait_synced(host.io.get_executor(), host.note(host.first));
    CHECK_FALSE(host.first);
    settle(host.io);
    CHECK(host.first == error_code());
}

TEST_CASE("Store: a wait can be cancelled, and the others go on") {
    WaitingHost host;
    asio::cancellation_signal signal;
    host.store.async_wait_synced(
        host.io.get_executor(), asio::bind_cancellation_slot(signal.slot(), host.note(host.first)));
    host.store.async_wait_synced(host.io.get_executor(), host.note(host.second));
    signal.emit(asio::cancellation_type::total);
    settle(host.io);
    CHECK_FALSE(host.first);
    signal.emit(asio::cancellation_type::partial);
    signal.emit(asio::cancellation_type::terminal);
    CHECK_FALSE(host.first);
    settle(host.io);
    CHECK(host.first == aborted);
    host.first.reset();
    host.publish();
    settle(host.io);
    CHECK_FALSE(host.first);
    CHECK(host.second == error_code());
}

TEST_CASE("Store: a cancellation that comes after the state does nothing") {
    WaitingHost host;
    asio::cancellation_signal signal;
    host.store.async_wait_synced(
        host.io.get_executor(), asio::bind_cancellation_slot(signal.slot(), host.note(host.first)));
    host.publish();
    signal.emit(asio::cancellation_type::terminal);
    settle(host.io);
    CHECK(host.first == error_code());
}

TEST_CASE("Store: waits fail when the writer stops, and a later state is a state") {
    WaitingHost host;
    host.store.async_wait_synced(host.io.get_executor(), host.note(host.first));
    host.writer.stop();
    host.store.async_wait_synced(host.io.get_executor(), host.note(host.second));
    settle(host.io);
    CHECK(host.first == aborted);
    CHECK(host.second == aborted);
    host.publish();
    host.store.async_wait_synced(host.io.get_executor(), host.note(host.first));
    settle(host.io);
    CHECK(host.first == error_code());
}

TEST_CASE("Store: waits fail when the store is destroyed") {
    asio::io_context io;
    std::optional<error_code> result;
    {
        const Store<StoredObject> store;
        store.async_wait_synced(io.get_executor(), [&](error_code ec) { result = ec; });
    }
    settle(io);
    CHECK(result == aborted);
}

TEST_CASE("Store: who waits keeps the context busy, and no longer") {
    WaitingHost host;
    host.store.async_wait_synced(host.io.get_executor(), host.note(host.first));
    host.io.poll();
    CHECK_FALSE(host.io.stopped());
    host.publish();
    host.io.run();
    CHECK(host.first);
}

TEST_CASE("Store: waiting takes any completion token") {
    WaitingHost host;
    auto later = host.store.async_wait_synced(host.io.get_executor());
    std::future<void> future =
        host.store.async_wait_synced(host.io.get_executor(), asio::use_future);
    host.publish();
    std::move(later)(host.note(host.first));
    settle(host.io);
    CHECK(host.first == error_code());
    REQUIRE(future.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    CHECK_NOTHROW(future.get());
}

TEST_CASE("Store: a wait without memory for its completion completes with the next batch") {
    WaitingHost host;
    bool full = true;
    host.store.async_wait_synced(host.io.get_executor(), host.note(host.first));
    host.store.async_wait_synced(test::FullExecutor{&host.other_io, &full}, host.note(host.second));
    CHECK_THROWS_AS(host.publish(), std::bad_alloc);
    CHECK(host.store.synced());
    full = false;
    host.publish();
    settle(host.io);
    settle(host.other_io);
    CHECK(host.first == error_code());
    CHECK(host.second == error_code());
}

TEST_CASE("Store: the end of a writer without memory for the ends of waits is no error") {
    WaitingHost host;
    bool full = true;
    host.store.async_wait_synced(test::FullExecutor{&host.io, &full}, host.note(host.first));
    host.writer.stop();
    full = false;
    host.writer.stop();
    settle(host.io);
    CHECK(host.first == aborted);
}
