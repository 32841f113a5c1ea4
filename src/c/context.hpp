#pragma once

#include "event_queue.hpp"
#include "k8s_sd_c.h"
#include "open_contexts.hpp"
#include "watch.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/types.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace k8s_sd_c {

/// A loop of the host with its watches. See k8s_sd_c.h for the threads that may call it.
class Context {
 public:
    using MakeWatch = std::function<std::shared_ptr<Watch>(const Watch::Host&, WatchIdentity)>;

    /// \throws Failure, boost::system::system_error, std::system_error
    explicit Context(const k8s_sd_options&);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// Whether this is the process that made the context. Nothing else may be used in a child.
    bool is_own_process() const noexcept;
    /// \throws Failure with K8S_SD_FORKED or K8S_SD_CLOSED
    void check() const;
    bool has_thread() const noexcept { return has_thread_; }

    k8s_sd_id add(void* user, const MakeWatch&);
    void reload(k8s_sd_id, const k8s_sd_config&);
    void cancel(k8s_sd_id);
    void close() noexcept;
    /// In a child of the process that made the context: closes the child's copy of the descriptor.
    void close_fd_of_child() const noexcept { ::close(queue_.fd().get()); }

    /// \return whether there is an event
    bool poll(int timeout_ms);
    EventQueue& queue() noexcept { return queue_; }
    const EventQueue& queue() const noexcept { return queue_; }

    std::string status_json() const;
    std::string metrics_text();

 private:
    using Watches = std::map<k8s_sd_id, std::shared_ptr<Watch>>;
    using TimePoint = std::chrono::steady_clock::time_point;

    void stop() noexcept;
    void start_thread();
    void run() noexcept;
    bool run_for_host(int timeout_ms);
    void run_ready_for_host(int timeout_ms, TimePoint end);
    /// After an exception, which may have destroyed handlers, and with them the next event of a
    /// watch: all watches begin again with their complete state.
    /// \param pause  time until then
    void begin_again(std::chrono::milliseconds pause);
    void check_status();
    std::shared_ptr<Watch> find(k8s_sd_id) const;
    Watches watches() const;

    const pid_t process_;
    const bool has_thread_;
    asio::io_context io_;
    EventQueue queue_;
    const Watch::Host host_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;

    mutable std::mutex mutex_;
    Watches watches_;
    k8s_sd_id last_id_ = 0;
    bool closed_ = false;
    bool checks_status_ = false;  ///< check_status() is called every second

    // Used in the context.
    asio::steady_timer status_timer_;
    bool broken_ = false;  ///< begin_again() is due

    // The thread that runs the context: that of the library, or one in poll().
    std::mutex running_;
    std::atomic<std::thread::id> runner_;
    std::mutex ending_;  ///< two threads of the host may close the context
    bool drained_ = false;
    const OpenContext open_;
    std::thread thread_;
};

}  // namespace k8s_sd_c
