#pragma once

#include "k8s_sd/detail/client/server_memory.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
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
    struct Request;
    using Requests = std::list<std::shared_ptr<Request>>;
    enum class Use : bool { list, watch };

 public:
    /// A permit for a running list or an open watch. Returned on destruction, on any thread.
    class Permit {
     public:
        Permit() = default;
        Permit(Permit&&) noexcept = default;
        Permit& operator=(Permit&& other) noexcept;
        ~Permit() { reset(); }
        void reset() noexcept;
        explicit operator bool() const noexcept { return traffic_ != nullptr; }

     private:
        friend class ServerTraffic;
        Permit(std::shared_ptr<ServerTraffic> traffic, Use use)
            : traffic_(std::move(traffic)), use_(use) {}

        std::shared_ptr<ServerTraffic> traffic_;  ///< null: no permit
        Use use_ = Use::list;
    };

    /// Owns a request. Its destruction withdraws the request; a permit granted meanwhile goes to
    /// the next request. If the handle is destroyed on the handler's executor, the handler is not
    /// called afterwards.
    class RequestHandle {
     public:
        RequestHandle() = default;
        RequestHandle(RequestHandle&&) noexcept = default;
        RequestHandle& operator=(RequestHandle&& other) noexcept;
        ~RequestHandle() { reset(); }
        void reset() noexcept;

     private:
        friend class ServerTraffic;
        RequestHandle(std::shared_ptr<ServerTraffic> traffic, std::shared_ptr<Request> request)
            : traffic_(std::move(traffic)), request_(std::move(request)) {}

        std::shared_ptr<ServerTraffic> traffic_;
        std::shared_ptr<Request> request_;
    };

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

    using PermitHandler = std::function<void(Permit)>;
    using RecoveryHandler = std::function<void()>;

    ServerTraffic(const ServerLimits&, std::shared_ptr<Metrics>);

    /// Grants a list permit once one is available, first come, first served.
    [[nodiscard]] RequestHandle async_list_permit(asio::any_io_executor, PermitHandler);
    /// A list permit if one is available and no request waits; else an empty one.
    Permit try_list_permit();
    /// A watch permit; an empty one while ServerLimits::watches are open.
    Permit try_watch_permit();

    /// The server has answered a request properly.
    void on_success();
    /// A request failed because of the server or the network.
    void on_failure();
    /// Calls the handler once, at the next success after a failure.
    [[nodiscard]] RequestHandle async_recovery(asio::any_io_executor, RecoveryHandler);
    /// The number of successes after a failure.
    std::uint64_t recoveries() const;

    /// \returns an empty one while another watch tests the same
    StreamTrial try_stream_trial(Kind);
    /// Calls the handler once, at the end of the present trial of any kind, or now without one.
    [[nodiscard]] RequestHandle async_stream_trial_end(asio::any_io_executor, RecoveryHandler);

    BookmarkCadence bookmarks;
    TransferRate lists;
    ListMemory list_forms;
    ServerShards shards;

 private:
    bool has_list_permit() const noexcept;
    RequestHandle enqueue(Requests&, asio::any_io_executor, PermitHandler);
    void hand_out() noexcept;
    void give_back(Use) noexcept;
    void end_trial(std::string_view family) noexcept;
    static void take_all(Requests& queue, Requests& taken) noexcept;
    void post(const std::shared_ptr<Request>&);
    void run(Request&);
    void withdraw(Request&) noexcept;

    const ServerLimits limits_;
    const std::shared_ptr<Metrics> metrics_;

    // Never held during calls, destruction or posting of foreign handlers.
    mutable std::mutex mutex_;
    std::size_t lists_ = 0;
    std::size_t watches_ = 0;
    Requests waiting_;                   ///< for a list permit
    Requests recovering_;                ///< for a success
    Requests expecting_;                 ///< for the end of a trial
    std::set<std::string_view> trials_;  ///< the families, see ListMemory::family()
    bool handing_out_ = false;
    bool failed_ = false;
    std::uint64_t recoveries_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
