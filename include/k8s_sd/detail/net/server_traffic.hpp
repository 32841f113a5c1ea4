#pragma once

#include "k8s_sd/detail/net/bookmark_cadence.hpp"
#include "k8s_sd/detail/net/list_memory.hpp"
#include "k8s_sd/detail/net/server_shards.hpp"
#include "k8s_sd/detail/net/transfer_rate.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// What all watches of one server in one execution context share, whatever strand they are on: the
/// places that ServerLimits leaves them, and whether the server answers. No I/O. Thread-safe.
///
/// Handlers are posted to the executor given. Everything may be called and destroyed in a handler.
class ServerTraffic final : public std::enable_shared_from_this<ServerTraffic> {
    struct Request;
    using Requests = std::list<std::shared_ptr<Request>>;
    enum class Use : bool { list, watch };

 public:
    /// A list that may run, or a watch that may be open. Given back when destroyed, on any thread.
    class Place {
     public:
        Place() = default;
        Place(Place&&) noexcept = default;
        Place& operator=(Place&& other) noexcept;
        ~Place() { reset(); }
        void reset() noexcept;
        explicit operator bool() const noexcept { return traffic_ != nullptr; }

     private:
        friend class ServerTraffic;
        Place(std::shared_ptr<ServerTraffic> traffic, Use use)
            : traffic_(std::move(traffic)), use_(use) {}

        std::shared_ptr<ServerTraffic> traffic_;  ///< null: no place
        Use use_ = Use::list;
    };

    /// Keeps a request. Destroying it withdraws the request: what was granted meanwhile goes to the
    /// next in line. The handler is not called after that, provided that the ticket is destroyed on
    /// the handler's executor.
    class Ticket {
     public:
        Ticket() = default;
        Ticket(Ticket&&) noexcept = default;
        Ticket& operator=(Ticket&& other) noexcept;
        ~Ticket() { reset(); }
        void reset() noexcept;

     private:
        friend class ServerTraffic;
        Ticket(std::shared_ptr<ServerTraffic> traffic, std::shared_ptr<Request> request)
            : traffic_(std::move(traffic)), request_(std::move(request)) {}

        std::shared_ptr<ServerTraffic> traffic_;
        std::shared_ptr<Request> request_;
    };

    using PlaceHandler = std::function<void(Place)>;
    using RecoveryHandler = std::function<void()>;

    ServerTraffic(const ServerLimits&, std::shared_ptr<Metrics>);

    /// The handler gets a place for a list as soon as there is one; first come, first served.
    [[nodiscard]] Ticket async_list_place(asio::any_io_executor, PlaceHandler);
    /// A place for a list if there is one now and nobody waits; else an empty one.
    Place try_list_place();
    /// A place for a watch; an empty one while ServerLimits::watches are open.
    Place try_watch_place();

    /// The server answered a request as it should.
    void on_success();
    /// A request failed for a reason of the server or the network.
    void on_failure();
    /// Calls the handler once, when a success follows a failure.
    [[nodiscard]] Ticket async_recovery(asio::any_io_executor, RecoveryHandler);
    /// How often a success has followed a failure.
    std::uint64_t recoveries() const;

    BookmarkCadence bookmarks;
    TransferRate lists;
    ListMemory list_forms;
    ServerShards shards;

 private:
    bool has_list_place() const noexcept;
    Ticket enqueue(Requests&, asio::any_io_executor, PlaceHandler);
    void hand_out() noexcept;
    void give_back(Use) noexcept;
    void post(const std::shared_ptr<Request>&);
    void run(Request&);
    void withdraw(Request&) noexcept;

    const ServerLimits limits_;
    const std::shared_ptr<Metrics> metrics_;

    // Nothing foreign is called, destroyed or posted to under it.
    mutable std::mutex mutex_;
    std::size_t lists_ = 0;
    std::size_t watches_ = 0;
    Requests waiting_;     ///< for a place for a list
    Requests recovering_;  ///< for a success
    bool handing_out_ = false;
    bool failed_ = false;
    std::uint64_t recoveries_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
