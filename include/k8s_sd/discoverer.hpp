#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/run_initiation.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_group.hpp"

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
/// Distinct objects: safe. One object: async_run(), cancel() and status() may be called from any
/// thread; moving and destroying must not overlap with other calls.
class K8S_SD_EXPORT Discoverer {
 public:
    using executor_type = asio::any_io_executor;
    /// See Callback above. It must not be empty.
    using Callback = std::function<void(const TargetGroupDiff&)>;

    /// Reads the kubeconfig or the service account's files, if the configuration needs them; does
    /// no network I/O.
    /// \throws ConfigError naming the field or file and what is allowed, and for an executor or
    /// callback that is empty
    Discoverer(executor_type, const DiscoveryConfig&, Callback);
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
            InitiateRun(impl_, get_executor()), token);
    }

    /// Stops; idempotent, prompt. A cancelled discoverer cannot be run again.
    void cancel() noexcept;

    /// A copy of the present status. Before async_run() and after cancel() it has no watches.
    DiscovererStatus status() const;

 private:
    class Impl;
    using InitiateRun = detail::RunInitiation<Discoverer, Impl>;
    friend InitiateRun;
    static void run(const std::shared_ptr<Impl>&, asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
