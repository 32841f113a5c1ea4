#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "k8s_sd/detail/async/child_process.hpp"
#include "k8s_sd/detail/async/hanging_programs.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

class SystemTimer final : public Timer {
 public:
    explicit SystemTimer(const asio::any_io_executor& executor) : timer_(executor) {}
    ~SystemTimer() override { ++*generation_; }

    void expires_at(TimePoint when, std::function<void()> handler) override {
        const std::uint64_t mine = ++*generation_;
        timer_.expires_at(when);
        timer_.async_wait(
            [current = generation_, mine, handler = std::move(handler)](const error_code& error) {
                if (!error && *current == mine) handler();
            });
    }

    void cancel() noexcept override {
        ++*generation_;
        timer_.cancel();
    }

 private:
    asio::steady_timer timer_;
    // An expired wait may already be queued as a success when it is cancelled. The shared wait
    // number, valid beyond the timer's lifetime, detects this. The last owner may release the timer
    // on any thread.
    using Generation = std::atomic<std::uint64_t>;
    const std::shared_ptr<Generation> generation_ = std::make_shared<Generation>(0);
};

class SystemClock final : public Clock {
 public:
    TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }
    std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override {
        return std::make_unique<SystemTimer>(std::move(executor));
    }
};

class SystemFileCalls final : public FileCalls {
 public:
    bool run(std::function<void()> call) override {
        // Global and never destroyed: see BlockingThreads. Many threads, so hanging reads do not
        // block files on other file systems.
        static const detail::Immortal<detail::BlockingThreads> threads(32U, 1000U);
        return threads->run(std::move(call));
    }
};

using Steady = std::chrono::steady_clock;

ProgramRunner::Result not_started(std::string why) {
    ProgramRunner::Result result;
    result.end = ProgramRunner::Result::End::not_started;
    result.detail = std::move(why);
    return result;
}

ProgramRunner::Result run_program(detail::ChildProcess& child, Steady::time_point asked) try {
    if (Steady::now() - asked > detail::max_program_queue_time) {
        return not_started("earlier programs in the queue ran for too long");
    }
    const detail::BlockingCall waits;
    return child.run();
} catch (const std::exception& error) {
    return not_started(in_words(error));
}

/// Equal programs may hang for the same reason: each cluster has its own arguments or variables, as
/// KUBERNETES_EXEC_INFO. A hash, because they may be secrets.
std::size_t group_of(const ProgramRunner::Program& program) {
    std::size_t hash = std::hash<std::string>()(program.command);
    const auto add = [&hash](const std::string& text) {
        hash = hash * 31 + std::hash<std::string>()(text);
    };
    for (const std::string& argument : program.args) add(argument);
    for (const auto& [name, value] : program.variables) {
        add(name);
        add(value);
    }
    return hash;
}

class SystemProgramRunner final : public ProgramRunner {
 public:
    std::shared_ptr<void> async_run(Program program, Handler handler) override {
        // Global and never destroyed: see BlockingThreads.
        static const detail::Immortal<detail::BlockingThreads> usual(32U, 1000U, 2U);
        static const detail::Immortal<detail::BlockingThreads> others(8U, 1000U, 2U);
        static const detail::Immortal<detail::PerProcess<detail::HangingPrograms>> hanging;
        const std::size_t group = group_of(program);
        const auto child = std::make_shared<detail::ChildProcess>(std::move(program));
        const auto asked = Steady::now();
        const auto call = [child, handler, asked, group] {
            Result result = run_program(*child, asked);
            hanging->get().note(group, result.end, Steady::now());
            handler(std::move(result));
        };
        const auto& threads = hanging->get().contains(group, asked) ? others : usual;
        if (!threads->run(call, std::to_string(group))) {
            handler(not_started("too many programs wait, or no thread can be started"));
        }
        return {child.get(), [child](void*) { child->kill(); }};
    }
};

}  // namespace

std::shared_ptr<Clock> system_clock() { return std::make_shared<SystemClock>(); }

std::shared_ptr<FileCalls> system_file_calls() {
    // A singleton, so concurrent reads of a file are shared.
    static const detail::Immortal<std::shared_ptr<FileCalls>> calls(
        std::make_shared<SystemFileCalls>());
    return *calls;
}

std::shared_ptr<ProgramRunner> system_program_runner() {
    // A singleton, so clients of equal environments share issued credentials.
    static const detail::Immortal<std::shared_ptr<ProgramRunner>> runner(
        std::make_shared<SystemProgramRunner>());
    return *runner;
}

}  // namespace k8s_sd::inline v0
