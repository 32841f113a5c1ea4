#include "k8s_sd/detail/base/immortal.hpp"
#include "k8s_sd/detail/net/blocking_threads.hpp"
#include "k8s_sd/environment.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

namespace {

class SystemFileCalls final : public FileCalls {
 public:
    bool run(std::function<void()> call) override {
        // Of the process, and never destroyed: see BlockingThreads. So many because one that
        // hangs must not stand in the way of files on another file system.
        static const detail::Immortal<detail::BlockingThreads> threads(32U, 1000U);
        return threads->run(std::move(call));
    }
};

}  // namespace

std::shared_ptr<FileCalls> system_file_calls() {
    // One for all: who reads the same file through the same calls shares the read.
    static const detail::Immortal<std::shared_ptr<FileCalls>> calls(
        std::make_shared<SystemFileCalls>());
    return *calls;
}

}  // namespace k8s_sd::inline v0
