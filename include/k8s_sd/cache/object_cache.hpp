#pragma once

#include "k8s_sd/cache/object_cache_status.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/data_object.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/object.hpp"

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

/// What to keep, and from which server. The way to the server is that of DiscoveryConfig.
struct ObjectCacheConfig {
    /// Of the objects that the cache keeps; one kind a cache.
    Kind kind = Kind::secret;
    /// As DiscoveryConfig::api_server.
    ApiServerConfig api_server{};
    /// As DiscoveryConfig::kubeconfig_file.
    std::string kubeconfig_file{};
    /// As DiscoveryConfig::kubeconfig_context.
    std::string kubeconfig_context{};
    /// How long async_get() waits for an object that has not been read from the server yet.
    Duration get_timeout = std::chrono::seconds(1);
    /// An object that nobody has read for this long is no longer watched. At least one minute.
    Duration max_idle = std::chrono::minutes(5);
    /// A namespace in which more objects than this would need a watch each gets one watch of the
    /// whole collection instead. That needs the permission to list and watch the collection; where
    /// it is missing the single watches go on. 0: never.
    std::size_t collection_threshold = 0;
    /// Watches are longer than those of a Discoverer, because there are more of them.
    WatchOptions watch{.watch_timeout_min = std::chrono::minutes(30),
                       .watch_timeout_max = std::chrono::minutes(60)};
};

/// Keeps single named objects of one kind up to date, as the kubelet keeps the Secrets and
/// ConfigMaps of its pods: each object that somebody refers to has one watch
/// (`fieldSelector=metadata.name=…`), as long as anybody refers to it.
///
/// * Secrets and ConfigMaps are DataObjects (as_data_object()), whose data is overwritten when the
///   last ObjectPtr to them goes. Other kinds are what reaches labels, see Object.
/// * An object marked `immutable` is no longer watched once it was read. Its value cannot change,
///   but it can be deleted and created again under its name. So it is read again for each new
///   reference, by read_again(), and every 15 minutes: at most 8 objects of a cache a minute, so
///   with more than 120 such objects the interval is longer.
/// * An object that was not read for `max_idle` is no longer watched, and forgotten. The next read
///   watches it again and waits for its present state.
/// * What is known of an object stays when the network, the server or a permission fails; status()
///   tells.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in a callback.
/// It must be destroyed before its execution context; References and Subscriptions may live on.
///
/// \par Thread safety
/// All members may be called from any thread; moving and destroying must not overlap with other
/// calls. Calls take effect in the order in which they were made.
class K8S_SD_EXPORT ObjectCache {
 public:
    using executor_type = asio::any_io_executor;
    /// Null: there is no such object.
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

    /// Refers to an object, whether it exists or not. Never blocks. The first reference to an
    /// object starts its watch, the last one that goes stops it.
    /// \param ns  empty for kinds without namespaces
    /// \throws ConfigError for a namespace or name that cannot be one
    [[nodiscard]] Reference add_reference(std::string_view ns, std::string_view name);

    /// Reads an object that somebody refers to, from memory. If it has not been read from the
    /// server since it is watched, waits for that, at most `get_timeout`.
    /// \par Handler signature  `void(error_code, ObjectPtr)`; the pointer is null with an error
    /// \par Errors
    /// errc::not_referenced; errc::object_not_found: the server has no such object (also: not in a
    /// usable form, see the log); errc::not_synced: the time is up; errc::forbidden: the permission
    /// to watch it is missing, at once; asio::error::operation_aborted once cancelled
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial; the watch goes on
    template <class CompletionToken = asio::deferred_t>
    auto async_get(std::string_view ns, std::string_view name,
                   CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code, ObjectPtr)>(
            InitiateGet(impl_), token, std::string(ns), std::string(name));
    }
    /// The same for the object of a reference.
    template <class CompletionToken = asio::deferred_t>
    auto async_get(const Reference& reference, CompletionToken&& token = CompletionToken{});

    /// What the object says was refused, as by an answer 401 or 403 to a token of it: an immutable
    /// one is read from the server again, once in 10 s at most; others are up to date. An
    /// async_get() waits for that as for the first read, and completes with what is known if the
    /// server does not answer. Does nothing if nobody refers to the object.
    void read_again(std::string_view ns, std::string_view name);
    /// The same for the object of a reference.
    void read_again(const Reference& reference);

    /// Follows an object: refers to it, and tells `callback` its state once it is known and
    /// whenever it changes from then on.
    ///
    /// `callback` is called on get_executor(), as if by post, and for all subscriptions of a cache
    /// never concurrently. While it runs changes are collected: the newest state wins, and what has
    /// changed back is no change. After the Subscription was destroyed at most a call that had
    /// begun is still running. An exception leaves through the function that runs the context; the
    /// state counts as told.
    /// An object that is followed is never idle. An immutable one is no longer watched once it was
    /// told, so its deletion is noticed when it is read again, see above.
    /// \throws ConfigError as add_reference(), and for an empty callback
    [[nodiscard]] Subscription subscribe(std::string_view ns, std::string_view name, Callback);

    /// Stops all watches, forgets all objects, and completes what waits; idempotent. References
    /// that are left have no effect any more.
    void cancel() noexcept;

    /// Copies of the present status, which may lag behind the calls of the host. The objects are
    /// those that somebody refers to.
    ObjectCacheStatus status() const;
    /// The status of one object; nullopt if nobody refers to it.
    std::optional<CachedObjectStatus> status(std::string_view ns, std::string_view name) const;

 private:
    using Impl = detail::ObjectCacheImpl;
    // A class with a constructor: see Discoverer.
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

/// Keeps an object referred to, counted. May be moved, and dropped on any thread.
class K8S_SD_EXPORT ObjectCache::Reference {
 public:
    Reference() = default;
    Reference(Reference&&) noexcept = default;
    Reference& operator=(Reference&&) noexcept;
    ~Reference() { reset(); }
    /// Refers to nothing from now on.
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

/// Keeps a callback of ObjectCache::subscribe(), and a reference. May be moved, and dropped on any
/// thread, also in the callback.
class K8S_SD_EXPORT ObjectCache::Subscription {
 public:
    Subscription() = default;
    Subscription(Subscription&&) noexcept = default;
    Subscription& operator=(Subscription&&) noexcept;
    ~Subscription() { reset(); }
    /// Ends the subscription. A call that had begun may still be running.
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
