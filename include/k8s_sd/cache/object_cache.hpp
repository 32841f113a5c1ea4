#pragma once

#include "k8s_sd/cache/object_cache_status.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/objects/data_object.hpp"
#include "k8s_sd/objects/object.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

namespace detail {
class CacheFollower;
class ObjectCacheImpl;
}  // namespace detail

/// The objects to cache and their server. The server is found as for DiscoveryConfig.
struct ObjectCacheConfig {
    /// Kind of the cached objects; one kind for each cache.
    Kind kind = Kind::secret;
    /// As DiscoveryConfig::api_server.
    ApiServerConfig api_server{};
    /// As DiscoveryConfig::kubeconfig_file.
    std::string kubeconfig_file{};
    /// As DiscoveryConfig::kubeconfig_context.
    std::string kubeconfig_context{};
    /// How long async_get() waits for an object not read from the server yet.
    Duration get_timeout = std::chrono::seconds(1);
    /// The watch of an object stops after this time without a read. At least one minute.
    Duration max_idle = std::chrono::minutes(5);
    /// Maximum number of single watches in a namespace; for more objects it gets one watch of the
    /// whole collection instead. Needs the permission to list and watch the collection; without
    /// it the single watches continue. 0: never watch collections.
    std::size_t collection_threshold = 0;
    /// Watches last longer than those of a Discoverer, since there are more of them.
    WatchOptions watch{.watch_timeout_min = std::chrono::minutes(30),
                       .watch_timeout_max = std::chrono::minutes(60)};
};

/// Keeps individually named objects of one kind up to date, as the kubelet keeps the Secrets and
/// ConfigMaps of its pods: each referenced object has one watch
/// (`fieldSelector=metadata.name=…`) as long as the host holds references to it.
///
/// * Secrets and ConfigMaps are DataObjects (as_data_object()); their data is overwritten when the
///   last ObjectPtr is released. Other kinds keep only the content of labels, see Object.
/// * The watch of an object marked `immutable` ends after the first read. Its value cannot change,
///   but it can be deleted and created again under its name. So it is read again for each new
///   reference, by read_again(), and every 15 minutes: at most 8 objects of a cache a minute, so
///   with more than 120 such objects the interval is longer.
/// * An object without a read for `max_idle` is forgotten and its watch stopped. The next read
///   starts a watch again and waits for the current state.
/// * A known object stays when the network, the server or a permission fails; status() reports the
///   failure.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in a callback.
/// It must be destroyed before its execution context; References and Subscriptions may outlive it.
///
/// \par Thread safety
/// All members may be called from any thread; moving and destroying must not overlap with other
/// calls. Calls take effect in their order.
class K8S_SD_EXPORT ObjectCache {
 public:
    using executor_type = asio::any_io_executor;
    /// Called with the object; null if the server has no such object.
    using Callback = std::function<void(const ObjectPtr&)>;

    class Reference;
    class Subscription;

    /// Reads the kubeconfig or the service account's files, if the configuration needs them; does
    /// no network I/O.
    /// \throws ConfigError naming the field or file and what is allowed, also for an empty executor
    ObjectCache(executor_type, const ObjectCacheConfig&);
    ObjectCache(ObjectCache&&) noexcept = default;
    ObjectCache& operator=(ObjectCache&&) noexcept;
    ~ObjectCache();

    /// The executor given at construction.
    executor_type get_executor() const noexcept;

    /// Adds a reference to an object, whether it exists or not. Never blocks. The first reference
    /// to an object starts its watch, the release of the last one stops it.
    /// \param ns  empty for kinds without namespaces
    /// \throws ConfigError for an invalid namespace or name
    [[nodiscard]] Reference add_reference(std::string_view ns, std::string_view name);

    /// Reads a referenced object from memory. If the object's watch has not read it from the server
    /// yet, waits for that, at most `get_timeout`.
    /// \par Handler signature  `void(error_code, ObjectPtr)`; the pointer is null with an error
    /// \par Errors
    /// errc::not_referenced; errc::object_not_found: the server has no such object (also: not in a
    /// usable form, see the log); errc::not_synced: timeout; errc::forbidden: the permission to
    /// watch it is missing, reported at once; asio::error::operation_aborted once cancelled
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial; the watch continues
    template <class CompletionToken = asio::deferred_t>
    auto async_get(std::string_view ns, std::string_view name,
                   CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code, ObjectPtr)>(
            InitiateGet(impl_), token, std::string(ns), std::string(name));
    }
    /// The same for a reference.
    template <class CompletionToken = asio::deferred_t>
    auto async_get(const Reference& reference, CompletionToken&& token = CompletionToken{});

    /// Reports a failure of the object's data, such as a 401 or 403 response to its token: an
    /// immutable object is read from the server again, at most once in 10 s; others are up to date.
    /// async_get() waits for this read as for the first one, and completes with the known value if
    /// the server does not respond. Does nothing without a reference to the object.
    void read_again(std::string_view ns, std::string_view name);
    /// The same for a reference.
    void read_again(const Reference& reference);

    /// Follows an object: adds a reference, and calls `callback` with the object's state once it is
    /// known and after each change.
    ///
    /// `callback` is called on get_executor(), as if by post, and never concurrently for the
    /// subscriptions of one cache. While it runs, changes are coalesced: only the latest state is
    /// delivered, and a reverted change is dropped. After the Subscription has been destroyed, at
    /// most one call already begun is still running. An exception leaves through the function
    /// running the context; the state counts as delivered.
    /// A followed object is never idle. The watch of an immutable object ends with its first
    /// delivery, so its deletion is noticed at the next read from the server, see above.
    /// \throws ConfigError as add_reference(), and for an empty callback
    [[nodiscard]] Subscription subscribe(std::string_view ns, std::string_view name, Callback);

    /// Stops all watches, forgets all objects, and completes all pending operations; idempotent.
    /// Remaining references have no effect any more.
    void cancel() noexcept;

    /// A copy of the current status of all referenced objects, which may lag behind calls of the
    /// host.
    ObjectCacheStatus status() const;
    /// The status of one object; nullopt without a reference to it.
    std::optional<CachedObjectStatus> status(std::string_view ns, std::string_view name) const;

 private:
    using Impl = detail::ObjectCacheImpl;
    // A class with a constructor, as in Discoverer.
    class InitiateGet {
     public:
        using executor_type = asio::any_io_executor;
        explicit InitiateGet(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        executor_type get_executor() const noexcept { return executor_of(*impl_); }
        template <class Handler>
        void operator()(Handler&& handler, std::string ns, std::string name) const {
            get(impl_, std::move(ns), std::move(name),
                asio::any_completion_handler<void(error_code, ObjectPtr)>(
                    std::forward<Handler>(handler)));
        }

     private:
        std::shared_ptr<Impl> impl_;
    };
    static executor_type executor_of(const Impl&) noexcept;
    static void get(const std::shared_ptr<Impl>&, std::string ns, std::string name,
                    asio::any_completion_handler<void(error_code, ObjectPtr)>);

    std::shared_ptr<Impl> impl_;
};

/// A counted reference to an object. May be moved; may be destroyed on any thread.
class K8S_SD_EXPORT ObjectCache::Reference {
 public:
    Reference() = default;
    Reference(Reference&&) noexcept = default;
    Reference& operator=(Reference&&) noexcept;
    ~Reference() { reset(); }
    /// Drops the reference.
    void reset() noexcept;

    /// Namespace of the object.
    const std::string& ns() const noexcept { return ns_; }
    /// Name of the object.
    const std::string& name() const noexcept { return name_; }

 private:
    friend ObjectCache;
    Reference(std::weak_ptr<Impl> impl, std::string_view ns, std::string_view name)
        : impl_(std::move(impl)), ns_(ns), name_(name) {}

    std::weak_ptr<Impl> impl_;
    std::string ns_;
    std::string name_;
};

/// Keeps a callback of ObjectCache::subscribe() and a reference. May be moved; may be destroyed on
/// any thread, also in the callback.
class K8S_SD_EXPORT ObjectCache::Subscription {
 public:
    Subscription() = default;
    Subscription(Subscription&&) noexcept = default;
    Subscription& operator=(Subscription&&) noexcept;
    ~Subscription() { reset(); }
    /// Ends the subscription. A call already begun may still be running.
    void reset() noexcept;

 private:
    friend ObjectCache;
    Subscription(Reference reference, std::shared_ptr<detail::CacheFollower> follower)
        : reference_(std::move(reference)), follower_(std::move(follower)) {}

    Reference reference_;
    std::shared_ptr<detail::CacheFollower> follower_;
};

template <class CompletionToken>
auto ObjectCache::async_get(const Reference& reference, CompletionToken&& token) {
    return async_get(reference.ns(), reference.name(), std::forward<CompletionToken>(token));
}

}  // namespace k8s_sd::inline v0
