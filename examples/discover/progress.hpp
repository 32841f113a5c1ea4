#pragma once

#include "k8s_sd/discoverer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace discover {

/// A line on a terminal's standard error that counts the objects while they are listed.
/// The discoverer must outlive it, and it the run of the context.
class Progress {
 public:
    Progress(const boost::asio::any_io_executor&, const k8s_sd::Discoverer&);
    /// Clears the line; idempotent.
    void stop();

 private:
    void schedule();
    void show();

    boost::asio::steady_timer timer_;
    const k8s_sd::Discoverer& discoverer_;
    bool shown_ = false;
    bool stopped_ = false;
};

/// Whether there is a terminal to show it on.
bool can_show_progress();

}  // namespace discover
