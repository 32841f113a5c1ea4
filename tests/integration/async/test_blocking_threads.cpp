#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// As in the library, it is never destroyed: a thread may still be exiting.
BlockingThreads& threads(std::size_t max_threads, std::size_t max_waiting) {
    static std::vector<BlockingThreads*>& all = *new std::vector<BlockingThreads*>;
    return *all.emplace_back(new BlockingThreads(max_threads, max_waiting));
}

TEST_CASE("BlockingThreads: calls run side by side, but not more than so many") {
    auto& two = threads(2, 100);
    const auto gate = std::make_shared<std::promise<void>>();
    const std::shared_future<void> open = gate->get_future().share();
    const auto running = std::make_shared<std::atomic<int>>(0);
    const auto most = std::make_shared<std::atomic<int>>(0);
    const auto ended = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < 10; ++i) {
        REQUIRE(two.run([open, running, most, ended] {
            const int now = ++*running;
            int seen = *most;
            while (seen < now && !most->compare_exchange_weak(seen, now)) {
            }
            open.wait();
            --*running;
            ++*ended;
        }));
    }
    while (*running < 2) std::this_thread::sleep_for(1ms);
    gate->set_value();
    while (*ended < 10) std::this_thread::sleep_for(1ms);
    CHECK(*most == 2);
}

TEST_CASE("BlockingThreads: calls of a group that hang hold up no other group") {
    static auto& four = *new BlockingThreads(4, 100, 2);
    const auto gate = std::make_shared<std::promise<void>>();
    const std::shared_future<void> open = gate->get_future().share();
    const auto running = std::make_shared<std::atomic<int>>(0);
    const auto ended = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < 10; ++i) {
        REQUIRE(four.run(
            [open, running, ended] {
                ++*running;
                open.wait();
                ++*ended;
            },
            "hangs"));
    }
    while (*running < 2) std::this_thread::sleep_for(1ms);
    for (int i = 0; i < 10; ++i) {
        std::promise<void> other;
        REQUIRE(four.run([&] { other.set_value(); }, "other"));
        other.get_future().wait();
    }
    CHECK(*running == 2);
    gate->set_value();
    while (*ended < 10) std::this_thread::sleep_for(1ms);
}

TEST_CASE("BlockingThreads: too many calls that wait are refused") {
    auto& one = threads(1, 2);
    std::promise<void> gate, began;
    const std::shared_future<void> open = gate.get_future().share();
    REQUIRE(one.run([open, &began] {
        began.set_value();
        open.wait();
    }));
    began.get_future().wait();
    std::promise<void> last;
    CHECK(one.run([] { throw std::runtime_error("no handler is called"); }));
    CHECK(one.run([&] { last.set_value(); }));
    CHECK_FALSE(one.run([] {}));
    gate.set_value();
    last.get_future().wait();
}

TEST_CASE("BlockingThreads: signals are left to the threads of the host") {
    std::promise<bool> blocked;
    REQUIRE(threads(1, 1).run([&] {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        blocked.set_value(sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1);
    }));
    CHECK(blocked.get_future().get());
}

#ifndef K8S_SD_THREAD_SANITIZER  // it has operators new and delete of its own
TEST_CASE(
    "BlockingThreads: without memory for a thread nothing is run, and signals stay as they are") {
    auto& one = threads(1, 1);
    test::allocations_fail = true;
    const bool begun = one.run([] {});
    test::allocations_fail = false;
    CHECK_FALSE(begun);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CHECK(sigismember(&mask, SIGTERM) == 0);
    std::promise<void> called;
    REQUIRE(one.run([&] { called.set_value(); }));
    called.get_future().wait();
}

TEST_CASE("BlockingThreads: a thread without memory goes on with calls that wait") {
    auto& one = threads(1, 2);
    std::promise<void> gate, began, called;
    REQUIRE(one.run([&] {
        began.set_value();
        gate.get_future().wait();
        test::allocations_fail = true;
    }));
    began.get_future().wait();
    REQUIRE(one.run(
        [&] {
            test::allocations_fail = false;
            called.set_value();
        },
        "another group"));
    gate.set_value();
    called.get_future().wait();
}

// ThreadSanitizer forbids threads in such a child.
TEST_CASE("BlockingThreads: a forked child does not wait for the threads of its parent") {
    auto& one = threads(1, 1);
    std::promise<void> gate, began;
    REQUIRE(one.run([&] {
        began.set_value();
        gate.get_future().wait();
    }));
    began.get_future().wait();
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(5);
        if (one.run([] { ::_exit(0); })) ::pause();
        ::_exit(1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    gate.set_value();
}
#endif

}  // namespace
}  // namespace k8s_sd::detail
