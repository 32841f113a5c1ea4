#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/target_group.hpp"
#include "soak/cluster.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

namespace bench::soak {

/// A host in virtual time.
class Host {
 public:
    explicit Host(const Server&);
    virtual ~Host() = default;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Until the host has the state of this step, one step later at least. Waits for the server, in
    /// real time, before virtual time passes: it must not seem to be silent.
    void follow(std::size_t step);
    /// The number of its targets or objects.
    virtual std::size_t size() const = 0;

 protected:
    k8s_sd::DiscoveryConfig config(k8s_sd::Role) const;
    void on_group(const k8s_sd::TargetGroup&);
    /// \param step  the label of the marker
    void on_marker(std::string_view step);

    const std::shared_ptr<k8s_sd::sim::ManualClock> clock_ =
        std::make_shared<k8s_sd::sim::ManualClock>();
    boost::asio::io_context context_;
    k8s_sd::ApiServerConfig api_server_;

 private:
    /// For a host without a callback: asks for its state. Handlers that on_marker() follows run in
    /// the context.
    virtual void ask() {}
    /// \returns false if nothing has happened for this time, true if the step was reached
    bool wait_until_quiet(std::chrono::microseconds quiet, std::size_t step);

    std::size_t step_ = 0;
    bool has_waited_ = false;  // for more than events
};

}  // namespace bench::soak
