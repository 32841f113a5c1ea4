#pragma once

#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <new>
#include <utility>

namespace k8s_sd::test {

/// The executor of a context for which there may be no memory.
struct FullExecutor {
    boost::asio::io_context* context;
    const bool* full;

    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
        return *context;
    }
    static constexpr boost::asio::execution::blocking_t query(
        boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking.never;
    }
    template <class Function>
    void execute(Function function) const {
        if (*full) throw std::bad_alloc();
        boost::asio::post(*context, std::move(function));
    }
    bool operator==(const FullExecutor&) const = default;
};

}  // namespace k8s_sd::test
