#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/shop.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

/// A simulated API server on a free port of 127.0.0.1 with a small online shop on it, which
/// changes now and then, so that the examples run without a cluster.
class SimulatedCluster {
 public:
    using OnChange = std::function<void(const std::string& what)>;

    explicit SimulatedCluster(const boost::asio::any_io_executor& executor)
        : state_(std::make_shared<State>(executor)) {
        state_->server.listen();
    }

    std::string url() const { return state_->server.url(); }

    /// Changes one thing after each `interval` from now on, and says what to `on_change`.
    void start_changes(std::chrono::milliseconds interval, OnChange on_change = {}) {
        state_->interval = interval;
        state_->on_change = std::move(on_change);
        schedule(state_);
    }

 private:
    struct State {
        explicit State(const boost::asio::any_io_executor& executor)
            : server(executor), shop(server), timer(boost::asio::make_strand(executor)) {}

        k8s_sd::sim::ApiServer server;
        k8s_sd::sim::Shop shop;
        boost::asio::steady_timer timer;
        std::chrono::milliseconds interval{};
        OnChange on_change;
    };

    // The handler holds the state weakly, so that a tick that is queued when the cluster is
    // destroyed finds nothing to change.
    static void schedule(const std::shared_ptr<State>& state) {
        state->timer.expires_after(state->interval);
        state->timer.async_wait([weak = std::weak_ptr<State>(state)](boost::system::error_code) {
            const auto alive = weak.lock();
            if (!alive) return;
            const std::string what = alive->shop.step();
            if (alive->on_change) alive->on_change(what);
            schedule(alive);
        });
    }

    std::shared_ptr<State> state_;
};
