#pragma once

#include "support/http_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fleet {

/// Programs that are scraped, and note by whom and when. For one thread.
class ScrapedTargets {
 public:
    using Clock = std::chrono::steady_clock;

    ScrapedTargets(const boost::asio::any_io_executor&, std::size_t count);
    ~ScrapedTargets();
    ScrapedTargets(const ScrapedTargets&) = delete;
    ScrapedTargets& operator=(const ScrapedTargets&) = delete;

    /// The pods that they are.
    std::vector<boost::json::object> pods() const;
    /// What follows is measured from now on.
    void begin_phase();
    /// Whether each has been scraped since then.
    bool all_scraped() const;
    /// The longest time since then that one of them was not scraped.
    std::chrono::milliseconds longest_gap() const;
    /// "agent-0: 11, agent-1: 9": how many of them each member has scraped in the last two seconds.
    std::string owners() const;

 private:
    struct Target;

    std::vector<std::unique_ptr<Target>> targets_;
    Clock::time_point begun_ = Clock::now();
};

}  // namespace fleet
