#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "metrics_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace scraper {

/// A simulated cluster with real pods: each is a small HTTP server on 127.0.0.1. Pods are added,
/// removed and changed, and the token required by some of them is rotated. For one thread.
class ScrapedPods : public std::enable_shared_from_this<ScrapedPods> {
 public:
    explicit ScrapedPods(boost::asio::any_io_executor);
    ~ScrapedPods();
    ScrapedPods(const ScrapedPods&) = delete;
    ScrapedPods& operator=(const ScrapedPods&) = delete;

    std::string url() const { return api_server_.url(); }
    /// Changes one thing after each `interval`.
    void start_changes(std::chrono::milliseconds interval);

 private:
    struct Pod;

    void tick();
    void change_something();
    void rotate_token();
    void add_pod(const std::string& app);
    void remove_oldest_pod();
    void apply(const Pod&);

    boost::asio::any_io_executor executor_;
    k8s_sd::sim::ApiServer api_server_;
    boost::asio::steady_timer timer_;
    std::chrono::milliseconds interval_{};
    std::shared_ptr<AcceptedTokens> tokens_;  ///< tokens of the pods that need one
    std::vector<std::unique_ptr<Pod>> pods_;
    std::size_t created_ = 0;
    std::size_t steps_ = 0;
};

}  // namespace scraper
