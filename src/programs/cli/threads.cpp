#include "cli/threads.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cli {

void run_threads(boost::asio::io_context& io, unsigned count) {
    std::mutex mutex;
    std::exception_ptr error;
    const auto run = [&] {
        try {
            io.run();
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!error) error = std::current_exception();
            io.stop();
        }
    };
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < count; ++i) others.emplace_back(run);
    run();
    others.clear();
    if (error) std::rethrow_exception(error);
}

}  // namespace cli
