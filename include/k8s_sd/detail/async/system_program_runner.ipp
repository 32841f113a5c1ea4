#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "k8s_sd/detail/async/child_process.hpp"
#include "k8s_sd/detail/base/immortal.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error_text.hpp"

#include <chrono>
#include <exception>
#include <string>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

using Steady = std::chrono::steady_clock;

ProgramRunner::Result not_started(std::string why) {
    ProgramRunner::Result result;
    result.end = ProgramRunner::Result::End::not_started;
    result.detail = std::move(why);
    return result;
}

ProgramRunner::Result run_program(detail::ChildProcess& child, Steady::time_point asked) try {
    if (Steady::now() - asked > detail::max_program_queue_time) {
        return not_started("the programs that were asked for before it ran for too long");
    }
    const detail::BlockingCall waits;
    return child.run();
} catch (const std::exception& error) {
    return not_started(in_words(error));
}

class SystemProgramRunner final : public ProgramRunner {
 public:
    std::shared_ptr<void> async_run(Program program, Handler handler) override {
        // Global and never destroyed: see BlockingThreads.
        static const detail::Immortal<detail::BlockingThreads> threads(8U, 1000U);
        const auto child = std::make_shared<detail::ChildProcess>(std::move(program));
        const auto asked = Steady::now();
        if (!threads->run([child, handler, asked] { handler(run_program(*child, asked)); })) {
            handler(not_started("too many programs wait, or there is no thread"));
        }
        return {child.get(), [child](void*) { child->kill(); }};
    }
};

}  // namespace

std::shared_ptr<ProgramRunner> system_program_runner() {
    // A singleton, so clients of equal environments share issued credentials.
    static const detail::Immortal<std::shared_ptr<ProgramRunner>> runner(
        std::make_shared<SystemProgramRunner>());
    return *runner;
}

}  // namespace k8s_sd::inline v0
