#pragma once

#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace k8s_sd::test {

namespace asio = boost::asio;

/// The executor of a busy host: posted handlers wait until the test releases them.
class HeldExecutor {
 public:
    explicit HeldExecutor(asio::io_context& context) : state_(std::make_shared<State>(context)) {}

    template <class Function>
    void execute(Function&& function) const {
        auto held = std::make_shared<std::decay_t<Function>>(std::forward<Function>(function));
        state_->held.push_back([held] { std::move (*held)(); });
    }
    void release() const {
        for (auto& function : std::exchange(state_->held, {})) {
            asio::post(state_->context, std::move(function));
        }
    }
    /// At the end of a test: held handlers keep the executor alive, and destroying them may post
    /// more.
    void let_go() const {
        while (!state_->held.empty()) std::exchange(state_->held, {});
    }
    std::size_t held() const { return state_->held.size(); }

    asio::execution_context& query(asio::execution::context_t) const { return state_->context; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) {
        return asio::execution::blocking.never;
    }
    friend bool operator==(const HeldExecutor& a, const HeldExecutor& b) = default;

 private:
    struct State {
        explicit State(asio::io_context& c) : context(c) {}
        asio::io_context& context;
        std::vector<std::function<void()>> held;
    };
    std::shared_ptr<State> state_;
};

}  // namespace k8s_sd::test
