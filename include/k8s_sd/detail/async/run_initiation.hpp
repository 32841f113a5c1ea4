#pragma once

#include "k8s_sd/error.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Initiates an operation of a handle; it completes with an error code. A class with a constructor,
/// because g++ 12 miscompiles closures and aggregates if they are temporaries of an expression with
/// co_await.
template <class Impl>
class RunInitiation {
 public:
    using executor_type = boost::asio::any_io_executor;
    using Begin = void (*)(const std::shared_ptr<Impl>&,
                           boost::asio::any_completion_handler<void(error_code)>);

    RunInitiation(std::shared_ptr<Impl> impl, executor_type executor, Begin begin)
        : impl_(std::move(impl)), executor_(std::move(executor)), begin_(begin) {}
    executor_type get_executor() const noexcept { return executor_; }
    template <class Handler>
    void operator()(Handler&& handler) const {
        begin_(impl_, boost::asio::any_completion_handler<void(error_code)>(
                          std::forward<Handler>(handler)));
    }

 private:
    std::shared_ptr<Impl> impl_;
    executor_type executor_;
    Begin begin_;
};

}  // namespace k8s_sd::inline v0::detail
