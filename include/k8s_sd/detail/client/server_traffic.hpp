#pragma once

#include "k8s_sd/detail/async/permit_queue.hpp"
#include "k8s_sd/detail/async/wait_queue.hpp"
#include "k8s_sd/detail/client/server_memory.hpp"
#include "k8s_sd/detail/transport/http2/http2_pause.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// State shared by all watches of one server in one execution context, on any strand: the permits
/// of ServerLimits, and the server's health. No I/O. Thread-safe.
///
/// Handlers are posted to the given executor. They may call or destroy anything.
class ServerTraffic final : public std::enable_shared_from_this<ServerTraffic> {
 public:
    /// The test whether the server streams the lists of some kinds: one watch requests its list
    /// that way, the others wait. Ends on destruction, on any thread.
    class StreamTrial {
     public:
        StreamTrial() = default;
        StreamTrial(StreamTrial&&) noexcept = default;
        StreamTrial& operator=(StreamTrial&& other) noexcept;
        ~StreamTrial() { reset(); }
        void reset() noexcept;
        explicit operator bool() const noexcept { return traffic_ != nullptr; }

     private:
        friend class ServerTraffic;
        StreamTrial(std::shared_ptr<ServerTraffic> traffic, std::string_view family)
            : traffic_(std::move(traffic)), family_(family) {}

        std::shared_ptr<ServerTraffic> traffic_;  ///< null: no trial
        std::string_view family_;
    };

    using Notices = WaitQueue<>;
    using Handler = Notices::Handler;
    using RequestHandle = Notices::Handle;

    /// Counts of all users of the server.
    struct Counts {
        Metrics::Counter requests{0};
        Metrics::Counter failures{0};
        Metrics::Counter received_bytes{0};
        Metrics::Gauge connections{0};
    };

    ServerTraffic(const ServerLimits&, const std::shared_ptr<Metrics>&,
                  const std::shared_ptr<Clock>& = system_clock());

    /// The server has answered a request properly.
    void on_success();
    /// A request failed because of the server or the network.
    void on_failure();
    /// Calls the handler once, at the next success after a failure.
    [[nodiscard]] RequestHandle async_recovery(asio::any_io_executor, Handler);
    /// The number of successes after a failure.
    std::uint64_t recoveries() const;
    /// The present use of the server, without its URL.
    ServerUsage usage() const;

    /// \returns an empty one while another watch tests the same
    StreamTrial try_stream_trial(Kind);
    /// Calls the handler once, at the end of the present trial of any kind, or now without one.
    [[nodiscard]] RequestHandle async_stream_trial_end(asio::any_io_executor, Handler);

    const std::shared_ptr<PermitQueue> list_permits;
    const std::shared_ptr<PermitQueue> watch_permits;    ///< no request waits
    const std::shared_ptr<PermitQueue> connect_permits;  ///< for the time of connecting
    /// Of the first watches, which do not share a connection, see HttpVersion::automatic.
    static constexpr std::size_t max_own_connections = 8;
    const std::shared_ptr<PermitQueue> own_connections;  ///< no request waits
    const std::shared_ptr<Http2Pause> http2_pause = std::make_shared<Http2Pause>();
    BookmarkCadence bookmarks;
    TransferRate lists;
    ListMemory list_forms;
    ServerShards shards;
    const std::shared_ptr<Counts> counts = std::make_shared<Counts>();

 private:
    void end_trial(std::string_view family) noexcept;

    const std::shared_ptr<Notices> recovering_ = std::make_shared<Notices>();  ///< for a success
    const std::shared_ptr<Notices> expecting_ =
        std::make_shared<Notices>();  ///< for the end of a trial

    mutable std::mutex mutex_;
    std::set<std::string_view> trials_;  ///< the families, see ListMemory::family()
    bool failed_ = false;
    std::uint64_t recoveries_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
