#pragma once

#include "http/http_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fleet {

/// Scrape targets with a record of their scrapers and times. For one thread.
class ScrapedTargets {
 public:
    using Clock = std::chrono::steady_clock;

    ScrapedTargets(const boost::asio::any_io_executor&, std::size_t count);
    ~ScrapedTargets();
    ScrapedTargets(const ScrapedTargets&) = delete;
    ScrapedTargets& operator=(const ScrapedTargets&) = delete;

    /// The pods of the targets.
    std::vector<boost::json::object> pods() const;
    /// Starts a new phase of measurements.
    void begin_phase();
    /// Whether each target has been scraped in this phase.
    bool all_scraped() const;
    /// The longest time of a target without a scrape in this phase.
    std::chrono::milliseconds max_gap() const;
    /// "agent-0: 11, agent-1: 9": number of targets scraped by each member in the last two seconds.
    std::string owners() const;

 private:
    struct Target;

    std::vector<std::unique_ptr<Target>> targets_;
    Clock::time_point begun_ = Clock::now();
};

}  // namespace fleet
