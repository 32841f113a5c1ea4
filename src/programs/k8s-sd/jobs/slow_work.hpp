#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <atomic>
#include <exception>
#include <functional>
#include <utility>

namespace k8s_sd_program {

/// Receives the exception thrown while handling a request.
using OnFailure = std::function<void(const std::exception_ptr&)>;

/// Runs a part of a request. Its exceptions go to `failed`: they end this request, not the program.
template <class Part>
void attempt(const OnFailure& failed, Part&& part) noexcept {
    try {
        std::forward<Part>(part)();
    } catch (...) {
        try {
            failed(std::current_exception());
        } catch (...) {
            // There is no memory for an error message. Without a response the connection closes.
        }
    }
}

/// Runs potentially long work requested by a client, such as compiling its regular expressions. It
/// runs one piece at a time in its own thread, so that the server stays responsive. Any thread.
class SlowWork {
 public:
    /// \param program  kept busy as long as there are pieces
    explicit SlowWork(boost::asio::any_io_executor program) : program_(std::move(program)) {}
    /// Waits for the running piece.
    ~SlowWork() { pool_.join(); }
    SlowWork(const SlowWork&) = delete;
    SlowWork& operator=(const SlowWork&) = delete;

    /// \param piece   takes less than a second, because the end of the program waits for it
    /// \param failed  receives an exception of the piece, or a Stopped
    void run(std::function<void()> piece, OnFailure failed);
    /// Makes queued pieces fail.
    void stop() { stopped_ = true; }

    /// Reported when the program ends.
    struct Stopped : std::exception {
        const char* what() const noexcept override { return "the program is ending"; }
    };

 private:
    const boost::asio::any_io_executor program_;
    std::atomic<bool> stopped_ = false;
    boost::asio::thread_pool pool_{1};
};

}  // namespace k8s_sd_program
