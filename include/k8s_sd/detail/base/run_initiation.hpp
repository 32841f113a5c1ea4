#pragma once

#include "k8s_sd/error.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Begins async_run() of an Owner, which makes it a friend. A class with a constructor, because g++
/// 12 miscompiles closures and aggregates that are temporaries of an expression with co_await.
template <class Owner, class Impl>
class RunInitiation {
 public:
    using executor_type = boost::asio::any_io_executor;

    RunInitiation(std::shared_ptr<Impl> impl, executor_type executor)
        : impl_(std::move(impl)), executor_(std::move(executor)) {}
    executor_type get_executor() const noexcept { return executor_; }
    template <class Handler>
    void operator()(Handler&& handler) const {
        Owner::run(impl_, boost::asio::any_completion_handler<void(error_code)>(
                              std::forward<Handler>(handler)));
    }

 private:
    std::shared_ptr<Impl> impl_;
    executor_type executor_;
};

}  // namespace k8s_sd::inline v0::detail
