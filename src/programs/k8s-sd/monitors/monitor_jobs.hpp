#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "monitors/monitor_page.hpp"
#include "monitors/monitors_config.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// The jobs made of monitors, and why others are missing. Used on one strand.
class MonitorJobs {
 public:
    /// \throws k8s_sd::ConfigError
    MonitorJobs(boost::asio::any_io_executor strand, const MonitorsOptions&);

    /// \param server     of the monitors
    /// \param on_change  called with each change of jobs(), as if by post
    /// \throws k8s_sd::ConfigError
    void start(const k8s_sd::DiscoveryConfig& server,
               std::function<void(const k8s_sd::MonitorDiff&)> on_change);
    void stop();

    bool enabled() const noexcept { return config_.has_value(); }
    /// Whether the jobs are known. Until then any job may be one of a monitor.
    bool known() const;
    /// Why they are not known, in words.
    std::string why_unknown() const;
    /// The jobs of the changes so far, by name. Those of the source may be newer, and a newer one
    /// that is reverted before its delivery would never be reported.
    std::vector<k8s_sd::MonitorJobPtr> jobs() const;
    /// Refused monitors and failing watches, one a line; the first ones.
    std::string trouble() const;
    /// Why there is no job of this name, if it would be that of a monitor.
    std::optional<std::string> why_missing(std::string_view job) const;
    /// In Prometheus' text format; empty if there are no monitors.
    std::string metrics() const;
    /// A page of the monitors as JSON.
    std::string json(const MonitorPage&) const;

 private:
    void take(const k8s_sd::MonitorDiff&);

    const boost::asio::any_io_executor strand_;
    std::optional<k8s_sd::MonitorSourceConfig> config_;  ///< nullopt: not wanted
    std::map<std::string, k8s_sd::MonitorJobPtr> jobs_;  ///< by name
    bool known_ = false;
    std::optional<k8s_sd::MonitorSource> source_;
};

}  // namespace k8s_sd_program
