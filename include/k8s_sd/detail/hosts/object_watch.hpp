#pragma once

#include "k8s_sd/detail/async/reader.hpp"
#include "k8s_sd/detail/async/run_initiation.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/objects/object.hpp"
#include "k8s_sd/objects/watcher_config.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// A Watcher for any kind.
class K8S_SD_EXPORT ObjectWatch {
 public:
    using executor_type = asio::any_io_executor;
    /// One delivery. The complete state consists of objects without a previous version.
    struct News {
        bool full = false;
        std::vector<ObjectChange> changes;
        /// The server of everything delivered so far; nullopt: a kubeconfig has switched servers,
        /// and the new server has not listed everything yet.
        std::optional<ServerIdentity> server{};
    };
    /// Receives the deliveries of a host with a callback, one at a time.
    struct Receiver {
        /// Whatever may fail before the host is called. After an exception it is called with the
        /// same news again, before later ones.
        std::function<void(const News&)> prepare;
        /// Calls the host. If that throws, the news count as delivered.
        std::function<void()> call;
    };
    using StatusCallback = std::function<void(const DiscovererStatus&)>;

    /// \param receiver  empty: the host reads with async_next()
    ObjectWatch(executor_type, Kind, const WatcherConfig&, Receiver receiver);
    ObjectWatch(ObjectWatch&&) noexcept = default;
    ObjectWatch& operator=(ObjectWatch&&) noexcept;
    ~ObjectWatch();

    executor_type get_executor() const noexcept;
    template <class CompletionToken>
    auto async_run(CompletionToken&& token) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &ObjectWatch::run), token);
    }
    template <class CompletionToken>
    auto async_wait_synced(CompletionToken&& token) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &ObjectWatch::wait_synced), token);
    }
    template <class Diff, class CompletionToken>
    auto async_next(Diff (*to_diff)(const News&), CompletionToken&& token) {
        return asio::async_initiate<CompletionToken, void(error_code, Diff)>(
            NextInitiation<Impl, News, Diff>(impl_, get_executor(), &ObjectWatch::read, to_diff),
            token);
    }
    void set_status_callback(StatusCallback);
    /// Also delivers a change of server if the objects are the same. Call it before async_run().
    void report_moves();
    /// Called on each contact of a watch with its server, until cancelled, but not while a delivery
    /// has to be repeated; on any thread, one call at a time. Set it before async_run().
    void set_contact_callback(std::function<void(TimePoint)>);
    void cancel() noexcept;
    DiscovererStatus status() const;

 private:
    class Impl;
    using Handler = asio::any_completion_handler<void(error_code)>;
    using Initiate = RunInitiation<Impl>;
    static void run(const std::shared_ptr<Impl>&, Handler);
    static void wait_synced(const std::shared_ptr<Impl>&, Handler);
    static void read(const std::shared_ptr<Impl>&, std::unique_ptr<Reader<News>>);

    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0::detail
