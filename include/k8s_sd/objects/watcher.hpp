#pragma once

#include "k8s_sd/api/structs.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/hosts/object_watch.hpp"
#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/store_writer.hpp"
#include "k8s_sd/objects/watcher_config.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// The previous and the current state of a changed object.
template <class T>
struct ChangedObject {
    std::shared_ptr<const T> before;  ///< previous state; never null
    std::shared_ptr<const T> after;   ///< current state, with the same UID; never null
};

/// The changes a Watcher delivers. An object deleted and created anew under the same name is both
/// in `removed` and in `added`.
template <class T>
struct ObjectDiff {
    bool full = false;                              ///< the complete state, all of it in `added`
    std::vector<std::shared_ptr<const T>> added;    ///< latest states of new objects
    std::vector<ChangedObject<T>> changed;          ///< objects with a change of the kept fields
    std::vector<std::shared_ptr<const T>> removed;  ///< last known states
};

/// Watches the objects of one kind and notifies the host of changes; other libraries call this an
/// informer. `T` is one of k8s_sd::api, e.g. api::Pod.
///
/// It needs permission to list and watch this kind, and no other. It shares the watch of a URL with
/// the discoverers and watchers of its execution context.
///
/// \par Callback
/// `void(const ObjectDiff<T>&)`, called on the executor given at construction, as if by post: never
/// from inside a member function, never concurrently with itself. The first call comes after all
/// objects have been listed; it has `full == true` and the complete state, possibly empty. Later
/// calls have true changes of the kept fields only. While the callback runs, changes are coalesced:
/// one entry for each object with its latest state, and a reverted change is dropped. After
/// cancel() has returned, at most one call already begun is still running. Errors never remove
/// objects: see status().
/// An exception leaves through the function running the context; the diff counts as delivered. If
/// the callback was not reached, as without memory for the diff, it is delivered again after a
/// second, before later ones.
///
/// \par Objects
/// Objects are immutable and may be kept, read and released on any thread. Each object is kept
/// once, however many watchers and stores have it.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the callback.
/// It must be destroyed before its execution context.
///
/// \par Thread safety
/// Distinct objects: safe. One object: all member functions may be called from any thread; moving
/// and destroying must not overlap with other calls.
template <class T>
class Watcher {
 public:
    using executor_type = asio::any_io_executor;
    /// The argument of the callback and the result of async_next().
    using Diff = ObjectDiff<T>;
    /// See Callback above. Must not be empty.
    using Callback = std::function<void(const Diff&)>;
    /// See set_status_callback().
    using StatusCallback = std::function<void(const DiscovererStatus&)>;
    /// Whether to report the change between two states of an object, with the same UID; empty:
    /// report all. Called on the callback's executor, before the callback.
    using Predicate = std::function<bool(const T& before, const T& after)>;

    /// Reads the kubeconfig or the service account's files, if the configuration needs them; does
    /// no network I/O.
    /// \throws ConfigError with the field or file and the allowed values; for an empty executor or
    ///         callback
    Watcher(executor_type executor, const WatcherConfig& config, Callback callback,
            Predicate counts = {})
        : watch_(std::move(executor), api::kind_of<T>, config,
                 receiver_of(std::move(callback), std::move(counts))) {}

    /// Without a callback: the host reads with async_next(). \throws as above
    Watcher(executor_type executor, const WatcherConfig& config)
        : watch_(std::move(executor), api::kind_of<T>, config, {}) {}

    /// Fills a store: applies each diff to it as one batch and updates Store::last_contact(). The
    /// optional callback follows each batch. At most one watcher for each store. Cancelling the
    /// watcher completes pending waits of the store with an error.
    ///
    /// If a batch throws, as without memory, its exception leaves through the function running the
    /// context. The batch is repeated after a second, before later ones; until then
    /// Store::last_contact() stays.
    /// \throws as above
    Watcher(executor_type executor, const WatcherConfig& config, const Store<T>& store,
            Callback callback = {})
        : watch_(std::move(executor), api::kind_of<T>, config,
                 receiver_of(std::make_shared<Deliveries>(std::move(callback), Predicate(),
                                                          StoreWriter<T>(store)))),
          writer_(store) {
        watch_.set_contact_callback(
            [writer = StoreWriter<T>(store)](TimePoint when) mutable { writer.contact(when); });
    }
    /// Moves the running watch, its callbacks and pending operations. Only destruction and
    /// assignment are allowed for `other` afterwards.
    Watcher(Watcher&& other) noexcept
        : watch_(std::move(other.watch_)), writer_(std::exchange(other.writer_, std::nullopt)) {}
    /// Cancels this watcher first, and completes pending waits of the store it fills.
    Watcher& operator=(Watcher&& other) noexcept {
        if (this != &other) {
            cancel();
            watch_ = std::move(other.watch_);
            writer_ = std::exchange(other.writer_, std::nullopt);
        }
        return *this;
    }
    ~Watcher() { cancel(); }

    /// The executor given at construction.
    executor_type get_executor() const noexcept { return watch_.get_executor(); }

    /// Runs until cancelled. Failures (network, permissions, malformed data) do not end it: they
    /// are retried with backoff, and reported in status(), the log and the metrics.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         asio::error::operation_aborted once cancelled;
    ///                         asio::error::already_started if already running
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the same as cancel()
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return watch_.async_run(std::forward<CompletionToken>(token));
    }

    /// Reads the next diff of a watcher without a callback: the complete state first, with `full`
    /// set, then all changes since the previous diff. Starts to watch; async_run() is not needed.
    /// Between reads, changes are coalesced as during a callback: memory grows with the number of
    /// objects existing now or known to the host, not with the number of changes.
    /// A coroutine that owns its watcher must end before the context does: cancel it first.
    /// \par Handler signature  `void(error_code, ObjectDiff<T>)`
    /// \par Completion         with a diff, not empty unless it is the first one; else with
    ///                         asio::error::operation_aborted once cancelled,
    ///                         asio::error::already_started while another read is pending,
    ///                         asio::error::invalid_argument if there is a callback
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the next read gets the diff
    template <class CompletionToken = asio::deferred_t>
    auto async_next(CompletionToken&& token = CompletionToken{}) {
        return watch_.template async_next<Diff>(&Watcher::to_diff,
                                                std::forward<CompletionToken>(token));
    }

    /// Waits until the complete state is known; its delivery to the host may follow a little later.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         success, at once if already known;
    ///                         asio::error::operation_aborted once cancelled
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: this wait only
    template <class CompletionToken = asio::deferred_t>
    auto async_wait_synced(CompletionToken&& token = CompletionToken{}) {
        return watch_.async_wait_synced(std::forward<CompletionToken>(token));
    }

    /// Sets a function called with status() after each change of its `synced`, `error` or
    /// `message`: on the executor given at construction, as if by post, never concurrently with
    /// itself or the callback, with the latest status only. An empty function removes it.
    void set_status_callback(StatusCallback callback) {
        watch_.set_status_callback(std::move(callback));
    }

    /// Stops the watcher; idempotent, prompt. A cancelled watcher cannot be run again.
    void cancel() noexcept {
        watch_.cancel();
        if (writer_) writer_->stop();
    }

    /// A copy of the current status. Before async_run() and after cancel() it has no watches.
    DiscovererStatus status() const { return watch_.status(); }

 private:
    static std::shared_ptr<const T> object_of(const ObjectPtr& object) {
        return std::static_pointer_cast<const T>(object->api_object());
    }

    static Diff make_diff(const detail::ObjectWatch::News& news, const Predicate& counts) {
        Diff diff;
        diff.full = news.full;
        for (const ObjectChange& change : news.changes) {
            auto before = change.before ? object_of(change.before) : nullptr;
            auto after = change.after ? object_of(change.after) : nullptr;
            if (before && after && change.before->same_uid(*change.after)) {
                if (!counts || counts(*before, *after))
                    diff.changed.push_back({std::move(before), std::move(after)});
                continue;
            }
            if (before) diff.removed.push_back(std::move(before));
            if (after) diff.added.push_back(std::move(after));
        }
        return diff;
    }

    static Diff to_diff(const detail::ObjectWatch::News& news) { return make_diff(news, {}); }

    /// Brings one delivery after the other to the store and the callback.
    class Deliveries {
     public:
        Deliveries(Callback callback, Predicate counts, std::optional<StoreWriter<T>> writer)
            : callback_(std::move(callback)),
              counts_(std::move(counts)),
              writer_(std::move(writer)) {}

        void prepare(const detail::ObjectWatch::News& news) {
            diff_ = make_diff(news, counts_);
            if (writer_ && is_news(diff_)) write(*writer_, diff_);
        }
        void call() {
            const Diff diff = std::exchange(diff_, {});
            if (callback_ && is_news(diff)) callback_(diff);
        }

     private:
        static bool is_news(const Diff& diff) noexcept {
            return diff.full || !diff.added.empty() || !diff.changed.empty() ||
                   !diff.removed.empty();
        }

        const Callback callback_;
        const Predicate counts_;
        const std::optional<StoreWriter<T>> writer_;
        Diff diff_;  ///< prepared
    };

    static detail::ObjectWatch::Receiver receiver_of(std::shared_ptr<Deliveries> deliveries) {
        return {[deliveries](const detail::ObjectWatch::News& news) { deliveries->prepare(news); },
                [deliveries] { deliveries->call(); }};
    }
    static detail::ObjectWatch::Receiver receiver_of(Callback callback, Predicate counts) {
        detail::check_callback(callback, "Watcher");
        return receiver_of(
            std::make_shared<Deliveries>(std::move(callback), std::move(counts), std::nullopt));
    }

    static void write(StoreWriter<T> writer, const Diff& diff) {
        auto batch = writer.begin();
        if (diff.full) batch.clear();
        for (const auto& object : diff.removed) batch.remove(StoreTraits<T>::key(*object));
        for (const auto& object : diff.added) batch.put(object);
        for (const auto& [before, after] : diff.changed) batch.put(after);
        batch.publish();
    }

    detail::ObjectWatch watch_;
    std::optional<StoreWriter<T>> writer_;  ///< writer of the filled store
};

}  // namespace k8s_sd::inline v0
