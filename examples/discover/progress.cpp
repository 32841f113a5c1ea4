#include "progress.hpp"

#include <unistd.h>
#include <chrono>
#include <iostream>
#include <utility>

namespace discover {

namespace {

/// Back to the start of the terminal's line, which is then cleared.
constexpr const char* clear_line = "\r\x1b[K";

}  // namespace

Progress::Progress(const boost::asio::any_io_executor& executor,
                   const k8s_sd::Discoverer& discoverer)
    : timer_(executor), discoverer_(discoverer) {
    schedule();
}

void Progress::stop() {
    if (std::exchange(stopped_, true)) return;
    timer_.cancel();
    if (shown_) std::cerr << clear_line << std::flush;
}

void Progress::schedule() {
    timer_.expires_after(std::chrono::milliseconds(200));
    timer_.async_wait([this](boost::system::error_code) {
        // An error code would not do: a timer that has expired can no longer be cancelled.
        if (stopped_) return;
        show();
        schedule();
    });
}

void Progress::show() {
    shown_ = true;
    std::cerr << clear_line << "listing:";
    for (const k8s_sd::WatchStatus& watch : discoverer_.status().watches) {
        std::cerr << "  " << to_string(watch.kind) << (watch.ns.empty() ? "" : " in " + watch.ns)
                  << " " << watch.objects << (watch.synced ? " (all)" : "");
    }
    std::cerr << std::flush;
}

bool can_show_progress() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace discover
