#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <atomic>
#include <exception>
#include <functional>
#include <utility>

namespace bridge {

/// Gets the exception that a part of an answer has thrown.
using OnFailure = std::function<void(const std::exception_ptr&)>;

/// Runs a part of an answer. What it throws goes to `failed`: it ends this answer, not the program.
template <class Part>
void attempt(const OnFailure& failed, Part&& part) noexcept {
    try {
        std::forward<Part>(part)();
    } catch (...) {
        try {
            failed(std::current_exception());
        } catch (...) {
            // There is no memory for an error message. Without an answer the connection closes.
        }
    }
}

/// Work of a client's choosing that can take long, such as compiling its regular expressions. Runs
/// one piece at a time, in a thread of its own, so that the server goes on meanwhile. Any thread.
class SlowWork {
 public:
    /// \param program  has something to do for as long as there are pieces
    explicit SlowWork(boost::asio::any_io_executor program) : program_(std::move(program)) {}
    /// Waits for the piece that runs.
    ~SlowWork() { pool_.join(); }
    SlowWork(const SlowWork&) = delete;
    SlowWork& operator=(const SlowWork&) = delete;

    /// \param piece   takes less than a second: the program does not end before it has
    /// \param failed  gets what the piece throws, or a Stopped
    void run(std::function<void()> piece, OnFailure failed);
    /// Pieces that have not begun fail.
    void stop() { stopped_ = true; }

    /// The program ends.
    struct Stopped : std::exception {
        const char* what() const noexcept override { return "the program is ending"; }
    };

 private:
    const boost::asio::any_io_executor program_;
    std::atomic<bool> stopped_ = false;
    boost::asio::thread_pool pool_{1};
};

}  // namespace bridge
