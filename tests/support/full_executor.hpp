#pragma once

#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <new>
#include <utility>

namespace k8s_sd::test {

/// The executor of a context, for tests in which execute() may fail.
struct ContextExecutor {
    boost::asio::io_context* context;

    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
        return *context;
    }
    static constexpr boost::asio::execution::blocking_t query(
        boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking.never;
    }
    bool operator==(const ContextExecutor&) const = default;
};

/// There may be no memory for a post.
struct FullExecutor : ContextExecutor {
    FullExecutor(boost::asio::io_context* of, const bool* is_full)
        : ContextExecutor{of}, full(is_full) {}

    template <class Function>
    void execute(Function function) const {
        if (*full) throw std::bad_alloc();
        boost::asio::post(*context, std::move(function));
    }
    bool operator==(const FullExecutor&) const = default;

    const bool* full;
};

}  // namespace k8s_sd::test
