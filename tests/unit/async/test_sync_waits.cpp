#include "k8s_sd/detail/async/sync_waits.hpp"
#include "support/full_executor.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace k8s_sd::detail {
namespace {

/// Waits with names, some of them without memory for their handlers.
struct SyncWaitsFixture {
    auto notes(const std::string& name) {
        return [this, name](error_code ec) { log += name + (ec ? "! " : " "); };
    }
    void wait(const std::string& name) { waits->add(notes(name), context.get_executor()); }
    void wait_without_memory(const std::string& name) {
        waits->add(boost::asio::bind_cancellation_slot(signal.slot(), notes(name)),
                   test::FullExecutor{&context, &full});
    }
    void settle() { test::settle(context); }

    boost::asio::io_context context;
    boost::asio::cancellation_signal signal;
    bool full = false;
    std::shared_ptr<SyncWaits> waits = std::make_shared<SyncWaits>();
    std::string log;
};

TEST_CASE("SyncWaits: a wait that cannot be completed keeps none of the others from it") {
    SyncWaitsFixture f;
    f.wait("a");
    f.wait_without_memory("b");
    f.wait("c");
    f.full = true;
    CHECK_THROWS_AS(f.waits->finish({}), std::bad_alloc);
    f.settle();
    CHECK(f.log == "a c ");
    f.full = false;
    f.waits->finish({});
    f.settle();
    CHECK(f.log == "a c b ");
}

TEST_CASE("SyncWaits: a cancellation without memory has no effect") {
    SyncWaitsFixture f;
    f.wait_without_memory("a");
    f.full = true;
    CHECK_THROWS_AS(f.signal.emit(boost::asio::cancellation_type::terminal), std::bad_alloc);
    f.full = false;
    SECTION("and may be repeated") {
        f.signal.emit(boost::asio::cancellation_type::terminal);
        f.settle();
        CHECK(f.log == "a! ");
    }
    SECTION("so the wait is completed") {
        f.waits->finish({});
        f.settle();
        CHECK(f.log == "a ");
    }
}

/// There is no memory for one post; meanwhile another thread could do something.
struct InterruptedExecutor : test::ContextExecutor {
    InterruptedExecutor(boost::asio::io_context* of, std::function<void()>* calls)
        : ContextExecutor{of}, meanwhile(calls) {}

    template <class Function>
    void execute(Function function) const {
        if (const auto call = std::exchange(*meanwhile, nullptr)) {
            call();
            throw std::bad_alloc();
        }
        boost::asio::post(*context, std::move(function));
    }
    bool operator==(const InterruptedExecutor&) const = default;

    std::function<void()>* meanwhile;
};

TEST_CASE("SyncWaits: a wait whose cancellation fails while all are completed is completed, too") {
    SyncWaitsFixture f;
    std::function<void()> meanwhile;
    f.waits->add(boost::asio::bind_cancellation_slot(f.signal.slot(), f.notes("a")),
                 InterruptedExecutor{&f.context, &meanwhile});
    meanwhile = [&] { f.waits->finish({}); };
    CHECK_THROWS_AS(f.signal.emit(boost::asio::cancellation_type::terminal), std::bad_alloc);
    f.settle();
    CHECK(f.log == "a ");
}

TEST_CASE("SyncWaits: a wait that is cancelled twice ends once") {
    SyncWaitsFixture f;
    f.wait_without_memory("a");
    f.signal.emit(boost::asio::cancellation_type::terminal);
    f.signal.emit(boost::asio::cancellation_type::terminal);
    f.settle();
    CHECK(f.log == "a! ");
}

}  // namespace
}  // namespace k8s_sd::detail
