#pragma once

#include "k8s_sd/access.hpp"
#include "k8s_sd/config.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

namespace discover {

/// Tries the watches of monitors, one after the other, as k8s-sd --monitors begins them.
class MonitorCheck {
 public:
    using Done = std::function<void(bool all_fine)>;

    MonitorCheck(boost::asio::any_io_executor, const k8s_sd::DiscoveryConfig& server,
                 k8s_sd::Duration step_timeout, k8s_sd::AccessCheckHandler on_line, Done done);
    ~MonitorCheck();
    MonitorCheck(const MonitorCheck&) = delete;
    MonitorCheck& operator=(const MonitorCheck&) = delete;

 private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace discover
