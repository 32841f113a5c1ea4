#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/reader.hpp"
#include "k8s_sd/detail/base/run_initiation.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// Discovers the targets of one configuration and keeps the host informed of what changes.
///
/// Discoverers on one execution context whose configurations agree in everything but the role and
/// the update interval share their watches; see GroupWatcher.
///
/// \par Callback
/// `void(const TargetGroupDiff&)`, called on the executor given at construction, as if by post:
/// never from inside a member function, never concurrently with itself. The first call comes
/// when everything the role needs has been listed; it has `full == true` and brings the complete
/// state, even an empty one. Later calls bring true changes only. While the callback runs,
/// changes are collected: one entry for each group, the newest state wins, and what has changed
/// back is no change. After cancel() has returned at most a call that had begun is still running.
/// Nothing is ever delivered as removed because of an error: see status().
/// An exception leaves through the function that runs the context, e.g. io_context::run(); the
/// diff counts as delivered, and run() may be called again.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the
/// callback. It must be destroyed before its execution context.
///
/// \par Thread safety
/// Distinct objects: safe. One object: all member functions may be called from any thread; moving
/// and destroying must not overlap with other calls.
class K8S_SD_EXPORT Discoverer {
 public:
    using executor_type = asio::any_io_executor;
    /// See Callback above. It must not be empty.
    using Callback = std::function<void(const TargetGroupDiff&)>;
    /// See set_status_callback().
    using StatusCallback = std::function<void(const DiscovererStatus&)>;

    /// Reads the kubeconfig or the service account's files, if the configuration needs them; does
    /// no network I/O.
    /// \param warm_start  where targets are kept over restarts
    /// \throws ConfigError naming the field or file and what is allowed, and for an executor or
    /// callback that is empty
    Discoverer(executor_type, const DiscoveryConfig&, Callback, const WarmStart& warm_start = {});
    /// Without a callback: the host reads, see async_next(). \throws as above
    Discoverer(executor_type, const DiscoveryConfig&, const WarmStart& warm_start = {});
    Discoverer(Discoverer&&) noexcept = default;
    Discoverer& operator=(Discoverer&&) noexcept;
    ~Discoverer();

    /// The executor given at construction.
    executor_type get_executor() const noexcept;

    /// Runs until it is cancelled. Failures (network, permissions, malformed data) do not end it:
    /// they are retried with backoff, and are in status(), the log and the metrics.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         asio::error::operation_aborted once cancelled;
    ///                         asio::error::already_started if it runs already
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the same as cancel()
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &Discoverer::run), token);
    }

    /// Reads the next diff of a discoverer without a callback: the complete state first, which has
    /// `full` set, and then what has changed since the last one, all in one. Begins to discover;
    /// async_run() is not needed. While nobody reads, changes are collected as they are while a
    /// callback runs.
    /// A coroutine that owns its discoverer must end before the context does: cancel it first.
    /// \par Handler signature  `void(error_code, TargetGroupDiff)`
    /// \par Completion         with a diff that is not empty, unless it is the first one; else with
    ///                         asio::error::operation_aborted once cancelled,
    ///                         asio::error::already_started while another one waits,
    ///                         asio::error::invalid_argument where there is a callback
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: nothing is lost, the next one has it
    template <class CompletionToken = asio::deferred_t>
    auto async_next(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code, TargetGroupDiff)>(
            InitiateNext(impl_, get_executor(), &Discoverer::read, &Discoverer::to_diff), token);
    }

    /// Waits until the complete state is known; the host may be told of it a little later.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         success, at once if it is known already;
    ///                         asio::error::operation_aborted once cancelled
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: this wait only
    template <class CompletionToken = asio::deferred_t>
    auto async_wait_synced(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &Discoverer::wait_synced), token);
    }

    /// A function that is called with status() when `synced`, `error` or `message` of it has
    /// changed: on the executor given at construction, as if by post, never concurrently with
    /// itself or the callback, the newest status only. An empty one ends that.
    void set_status_callback(StatusCallback);

    /// Stops; idempotent, prompt. A cancelled discoverer cannot be run again.
    void cancel() noexcept;

    /// A copy of the present status. Before async_run() and after cancel() it has no watches.
    DiscovererStatus status() const;

 private:
    class Impl;
    using Handler = asio::any_completion_handler<void(error_code)>;
    using DiffPtr = std::shared_ptr<const TargetGroupDiff>;
    using ReaderPtr = std::unique_ptr<detail::Reader<DiffPtr>>;
    using Initiate = detail::RunInitiation<Impl>;
    using InitiateNext = detail::NextInitiation<Impl, DiffPtr, TargetGroupDiff>;
    static void run(const std::shared_ptr<Impl>&, Handler);
    static void wait_synced(const std::shared_ptr<Impl>&, Handler);
    static void read(const std::shared_ptr<Impl>&, ReaderPtr);
    static TargetGroupDiff to_diff(const DiffPtr&);

    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
