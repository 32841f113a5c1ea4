#pragma once

#include "k8s_sd/detail/base/secrets.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The protocol of a proxy as a state machine without I/O: the owner of the connection sends the
/// output, feeds received bytes, and checks the state.
class ProxyDialog {
 public:
    enum class State : std::uint8_t {
        talking,  ///< send the output, if any, then feed received bytes
        done,     ///< further bytes belong to the server
        failed    ///< see problem()
    };

    virtual ~ProxyDialog() = default;
    /// Processes received bytes; requires the state `talking`.
    virtual void feed(std::string_view bytes) = 0;
    /// The proxy has closed the connection.
    void feed_end() {
        if (state_ == State::talking) fail("closed the connection without an answer");
    }

    State state() const noexcept { return state_; }
    /// Takes the output to send before further input.
    CleansedBytes take_output() { return std::exchange(output_, {}); }
    /// A sentence without its subject, the proxy. It contains no secrets except those echoed by the
    /// proxy.
    const std::string& problem() const noexcept { return problem_; }

 protected:
    void finish() noexcept { state_ = State::done; }
    void fail(std::string problem) {
        state_ = State::failed;
        problem_ = std::move(problem);
    }
    void say(CleansedBytes bytes) { output_ = std::move(bytes); }
    /// Fails if bytes follow the last response: nothing has been sent to the server yet.
    void finish_unless_more(std::string_view rest) {
        if (rest.empty()) return finish();
        fail("sent data after its answer, before any request");
    }

 private:
    State state_ = State::talking;
    CleansedBytes output_;
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
