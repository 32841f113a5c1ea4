#include "progress.hpp"

#include <chrono>
#include <iostream>
#include <string>
#include <utility>

namespace discover {

Progress::Progress(const boost::asio::any_io_executor& executor,
                   const k8s_sd::Discoverer& discoverer, const cli::Terminal& terminal)
    : timer_(executor), discoverer_(discoverer), terminal_(terminal) {
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
        // An error code would not suffice: an expired timer can no longer be cancelled.
        if (stopped_) return;
        show();
        schedule();
    });
}

void Progress::show() {
    shown_ = true;
    std::string text = "listing:";
    for (const k8s_sd::WatchStatus& watch : discoverer_.status().watches) {
        text += "  " + std::string(to_string(watch.kind));
        if (!watch.ns.empty()) text += " in " + cli::printable(watch.ns);
        text += " " + std::to_string(watch.objects) + (watch.synced ? " (all)" : "");
    }
    const auto line = cli::StyledLine().add(text, cli::Tone::faint);
    std::cerr << clear_line << terminal_.fitted(line) << std::flush;
}

}  // namespace discover
