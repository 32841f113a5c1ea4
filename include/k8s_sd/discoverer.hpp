#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/reader.hpp"
#include "k8s_sd/detail/async/run_initiation.hpp"
#include "k8s_sd/detail/base/abi.hpp"
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

/// Discovers the targets of one configuration and notifies the host of changes.
///
/// Discoverers on one execution context share their watches if their configurations differ at most
/// in the role, the update interval and the size of diffs; see GroupWatcher.
///
/// \par Callback
/// `void(const TargetGroupDiff&)`, called on the executor given at construction, as if by post:
/// never from inside a member function, never concurrently with itself. The first call comes after
/// all resources of the role have been listed; it has `full == true` and the complete state,
/// possibly empty, or its first part (DiscoveryConfig::max_groups_per_diff). Later calls have true
/// changes only. While the callback runs, changes are coalesced: one entry for each group with its
/// latest state, and a reverted change is dropped.
/// After cancel() has returned, at most one call already begun is still running.
/// Errors never remove targets: see status().
/// An exception leaves through the function running the context, e.g. io_context::run(); the
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
    /// See Callback above. Must not be empty.
    using Callback = std::function<void(const TargetGroupDiff&)>;
    /// See set_status_callback().
    using StatusCallback = std::function<void(const DiscovererStatus&)>;

    /// Reads the kubeconfig or the service account's files, if the configuration needs them; does
    /// no network I/O.
    /// \param warm_start  keeps targets across restarts
    /// \throws ConfigError with the field or file and the allowed values; for an empty executor or
    ///         callback
    Discoverer(executor_type, const DiscoveryConfig&, Callback, const WarmStart& warm_start = {});
    /// Without a callback: the host reads with async_next(). \throws as above
    Discoverer(executor_type, const DiscoveryConfig&, const WarmStart& warm_start = {});
    Discoverer(Discoverer&&) noexcept = default;
    Discoverer& operator=(Discoverer&&) noexcept;
    ~Discoverer();

    /// The executor given at construction.
    executor_type get_executor() const noexcept;

    /// Runs until cancelled. Failures (network, permissions, malformed data) do not end it: they
    /// are retried with backoff, and reported in status(), the log and the metrics.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         asio::error::operation_aborted once cancelled;
    ///                         asio::error::already_started if already running
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the same as cancel()
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &Discoverer::run), token);
    }

    /// Reads the next diff of a discoverer without a callback: the complete state first, with
    /// `full` set, then all changes since the previous diff. Starts to discover; async_run() is not
    /// needed. Between reads, changes are coalesced as during a callback.
    /// A coroutine that owns its discoverer must end before the context does: cancel it first.
    /// \par Handler signature  `void(error_code, TargetGroupDiff)`
    /// \par Completion         with a diff, not empty unless it is the first one; else with
    ///                         asio::error::operation_aborted once cancelled,
    ///                         asio::error::already_started while another read is pending,
    ///                         asio::error::invalid_argument if there is a callback
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the next read gets the diff
    template <class CompletionToken = asio::deferred_t>
    auto async_next(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code, TargetGroupDiff)>(
            InitiateNext(impl_, get_executor(), &Discoverer::read, &Discoverer::to_diff), token);
    }

    /// Waits until the complete state is known; its delivery to the host may follow a little later.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         success, at once if already known;
    ///                         asio::error::operation_aborted once cancelled
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: this wait only
    template <class CompletionToken = asio::deferred_t>
    auto async_wait_synced(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &Discoverer::wait_synced), token);
    }

    /// Sets a function called with status() after each change of its `synced`, `error` or
    /// `message`: on the executor given at construction, as if by post, never concurrently with
    /// itself or the callback, with the latest status only. An empty function removes it.
    void set_status_callback(StatusCallback);

    /// Stops the discoverer; idempotent, prompt. A cancelled discoverer cannot be run again.
    void cancel() noexcept;

    /// A copy of the current status. Before async_run() and after cancel() it has no watches.
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
