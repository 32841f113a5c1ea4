#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/run_initiation.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/object.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/watcher_config.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <functional>
#include <memory>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// A Watcher for any kind.
class K8S_SD_EXPORT ObjectWatch {
 public:
    using executor_type = asio::any_io_executor;
    /// The complete state comes as objects that were absent before.
    using Callback = std::function<void(bool full, const std::vector<ObjectChange>&)>;

    ObjectWatch(executor_type, Kind, const WatcherConfig&, Callback);
    ObjectWatch(ObjectWatch&&) noexcept = default;
    ObjectWatch& operator=(ObjectWatch&&) noexcept;
    ~ObjectWatch();

    executor_type get_executor() const noexcept;
    template <class CompletionToken>
    auto async_run(CompletionToken&& token) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            InitiateRun(impl_, get_executor()), token);
    }
    void cancel() noexcept;
    DiscovererStatus status() const;

 private:
    class Impl;
    using InitiateRun = RunInitiation<ObjectWatch, Impl>;
    friend InitiateRun;
    static void run(const std::shared_ptr<Impl>&, asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0::detail
