#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "k8s_sd/detail/base/immortal.hpp"
#include "k8s_sd/environment.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

namespace {

class SystemFileCalls final : public FileCalls {
 public:
    bool run(std::function<void()> call) override {
        // Global and never destroyed: see BlockingThreads. Many threads, so hanging reads do not
        // block files on other file systems.
        static const detail::Immortal<detail::BlockingThreads> threads(32U, 1000U);
        return threads->run(std::move(call));
    }
};

}  // namespace

std::shared_ptr<FileCalls> system_file_calls() {
    // A singleton, so concurrent reads of a file are shared.
    static const detail::Immortal<std::shared_ptr<FileCalls>> calls(
        std::make_shared<SystemFileCalls>());
    return *calls;
}

}  // namespace k8s_sd::inline v0
