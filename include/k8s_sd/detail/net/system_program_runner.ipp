#include "k8s_sd/detail/net/blocking_threads.hpp"
#include "k8s_sd/detail/net/child_process.hpp"
#include "k8s_sd/environment.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

namespace {

void run_program(detail::ChildProcess& child, const ProgramRunner::Handler& handler) {
    ProgramRunner::Result result;
    try {
        result = child.run();
    } catch (const std::exception& error) {
        result.end = ProgramRunner::Result::End::not_started;
        result.detail = error.what();
    }
    handler(std::move(result));
}

class SystemProgramRunner final : public ProgramRunner {
 public:
    std::shared_ptr<void> async_run(Program program, Handler handler) override {
        // Of the process, and never destroyed: see BlockingThreads.
        static auto& threads = *new detail::BlockingThreads(8, 1000);
        const auto child = std::make_shared<detail::ChildProcess>(std::move(program));
        if (!threads.run([child, handler] { run_program(*child, handler); })) {
            Result none;
            none.end = Result::End::not_started;
            none.detail = "too many programs wait, or there is no thread";
            handler(std::move(none));
        }
        return {child.get(), [child](void*) { child->kill(); }};
    }
};

}  // namespace

std::shared_ptr<ProgramRunner> system_program_runner() {
    // One for all, so that clients of equal environments share what is issued.
    static const auto runner = std::make_shared<SystemProgramRunner>();
    return runner;
}

}  // namespace k8s_sd::inline v0
