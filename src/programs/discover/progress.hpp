#pragma once

#include "cli/terminal.hpp"
#include "k8s_sd/discoverer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string_view>

namespace discover {

/// A line on a terminal's standard error with the number of objects listed so far. The discoverer
/// must outlive it, and it must outlive the run of the context.
class Progress {
 public:
    Progress(const boost::asio::any_io_executor&, const k8s_sd::Discoverer&, const cli::Terminal&);
    /// Clears the line; idempotent.
    void stop();

 private:
    void schedule();
    void show();

    boost::asio::steady_timer timer_;
    const k8s_sd::Discoverer& discoverer_;
    cli::Terminal terminal_;
    bool shown_ = false;
    bool stopped_ = false;
};

/// Returns to the start of a terminal's line and clears it.
inline constexpr std::string_view clear_line = "\r\x1b[K";

}  // namespace discover
