#pragma once

#include "k8s_sd/api/structs.hpp"
#include "k8s_sd/detail/base/host_arguments.hpp"
#include "k8s_sd/detail/hosts/object_watch.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/store.hpp"
#include "k8s_sd/store_writer.hpp"
#include "k8s_sd/watcher_config.hpp"

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

/// An object of which something has changed.
template <class T>
struct ChangedObject {
    std::shared_ptr<const T> before;
    std::shared_ptr<const T> after;
};

/// What a Watcher tells its host. An object that was deleted and created anew under its name comes
/// as removed and as added.
template <class T>
struct ObjectDiff {
    bool full = false;  ///< the complete state, all of it in `added`
    std::vector<std::shared_ptr<const T>> added;
    std::vector<ChangedObject<T>> changed;
    std::vector<std::shared_ptr<const T>> removed;
};

/// Watches the objects of one kind and keeps the host informed of what changes: what other
/// languages call an informer. `T` is one of k8s_sd::api, e.g. api::Pod.
///
/// It needs permission to list and watch that kind, and no other. It shares the watch of a URL with
/// the discoverers and watchers of its execution context.
///
/// \par Callback
/// `void(const ObjectDiff<T>&)`, called on the executor given at construction, as if by post: never
/// from inside a member function, never concurrently with itself. The first call comes when all
/// objects have been listed; it has `full == true` and brings the complete state, even an empty
/// one. Later calls bring true changes of the kept fields only. While the callback runs, changes
/// are collected: one entry for each object, the newest state wins, and what has changed back is no
/// change. After cancel() has returned at most a call that had begun is still running. Nothing is
/// ever delivered as removed because of an error: see status().
/// An exception leaves through the function that runs the context; the diff counts as delivered.
///
/// \par Objects
/// They are immutable and may be kept, read and released on any thread. A watcher keeps each
/// object once, however many watchers and stores have it.
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
    using Diff = ObjectDiff<T>;
    /// See Callback above. It must not be empty.
    using Callback = std::function<void(const Diff&)>;
    /// See set_status_callback().
    using StatusCallback = std::function<void(const DiscovererStatus&)>;
    /// Whether the host wants to be told of a change, of two objects with one UID; empty: it does.
    /// Called where the callback is, before it.
    using Predicate = std::function<bool(const T& before, const T& after)>;

    /// Reads the kubeconfig or the service account's files, if the configuration needs them; does
    /// no network I/O.
    /// \throws ConfigError naming the field or file and what is allowed, and for an executor or
    /// callback that is empty
    Watcher(executor_type executor, const WatcherConfig& config, Callback callback,
            Predicate counts = {})
        : watch_(std::move(executor), api::kind_of<T>, config,
                 adapter(std::move(callback), std::move(counts))) {}

    /// Without a callback: the host reads, see async_next(). \throws as above
    Watcher(executor_type executor, const WatcherConfig& config)
        : watch_(std::move(executor), api::kind_of<T>, config, {}) {}

    /// Fills a store: each diff is one batch of it, and Store::last_contact() is told. The
    /// callback, if there is one, comes after it. One watcher a store. Who waits for the store is
    /// told when the watcher is cancelled.
    /// \throws as above
    Watcher(executor_type executor, const WatcherConfig& config, const Store<T>& store,
            Callback callback = {})
        : Watcher(std::move(executor), config,
                  [writer = StoreWriter<T>(store), next = std::move(callback)](const Diff& diff) {
                      write(writer, diff);
                      if (next) next(diff);
                  }) {
        writer_.emplace(store);
        watch_.set_contact_callback(
            [writer = StoreWriter<T>(store)](TimePoint when) mutable { writer.contact(when); });
    }
    Watcher(Watcher&& other) noexcept
        : watch_(std::move(other.watch_)), writer_(std::exchange(other.writer_, std::nullopt)) {}
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

    /// Runs until it is cancelled. Failures (network, permissions, malformed data) do not end it:
    /// they are retried with backoff, and are in status(), the log and the metrics.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         asio::error::operation_aborted once cancelled;
    ///                         asio::error::already_started if it runs already
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the same as cancel()
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return watch_.async_run(std::forward<CompletionToken>(token));
    }

    /// Reads the next diff of a watcher without a callback: the complete state first, which has
    /// `full` set, and then what has changed since the last one, all in one. Begins to watch;
    /// async_run() is not needed. While nobody reads, changes are collected as they are while a
    /// callback runs: in memory for those objects that exist, or have existed for the host.
    /// A coroutine that owns its watcher must end before the context does: cancel it first.
    /// \par Handler signature  `void(error_code, ObjectDiff<T>)`
    /// \par Completion         with a diff that is not empty, unless it is the first one; else with
    ///                         asio::error::operation_aborted once cancelled,
    ///                         asio::error::already_started while another one waits,
    ///                         asio::error::invalid_argument where there is a callback
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: nothing is lost, the next one has it
    template <class CompletionToken = asio::deferred_t>
    auto async_next(CompletionToken&& token = CompletionToken{}) {
        return watch_.template async_next<Diff>(&Watcher::to_diff,
                                                std::forward<CompletionToken>(token));
    }

    /// Waits until the complete state is known; the host may be told of it a little later.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         success, at once if it is known already;
    ///                         asio::error::operation_aborted once cancelled
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: this wait only
    template <class CompletionToken = asio::deferred_t>
    auto async_wait_synced(CompletionToken&& token = CompletionToken{}) {
        return watch_.async_wait_synced(std::forward<CompletionToken>(token));
    }

    /// A function that is called with status() when `synced`, `error` or `message` of it has
    /// changed: on the executor given at construction, as if by post, never concurrently with
    /// itself or the callback, the newest status only. An empty one ends that.
    void set_status_callback(StatusCallback callback) {
        watch_.set_status_callback(std::move(callback));
    }

    /// Stops; idempotent, prompt. A cancelled watcher cannot be run again.
    void cancel() noexcept {
        watch_.cancel();
        if (writer_) writer_->stop();
    }

    /// A copy of the present status. Before async_run() and after cancel() it has no watches.
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

    static detail::ObjectWatch::Callback adapter(Callback callback, Predicate counts) {
        detail::check_callback(callback, "Watcher");
        return [callback = std::move(callback),
                counts = std::move(counts)](const detail::ObjectWatch::News& news) {
            const Diff diff = make_diff(news, counts);
            const bool empty = diff.added.empty() && diff.changed.empty() && diff.removed.empty();
            if (diff.full || !empty) callback(diff);
        };
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
    std::optional<StoreWriter<T>> writer_;  ///< of the store that it fills
};

}  // namespace k8s_sd::inline v0
