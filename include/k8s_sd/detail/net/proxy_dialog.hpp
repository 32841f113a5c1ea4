#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// What is said to a proxy, and what its answers mean. No I/O: whoever has a connection sends the
/// output, feeds what was received, and looks at the state.
class ProxyDialog {
 public:
    enum class State : std::uint8_t {
        talking,  ///< the output, if there is any, is to be sent, then bytes are expected
        done,     ///< what follows is the server's
        failed    ///< see problem()
    };

    virtual ~ProxyDialog() = default;
    /// The bytes that arrived. Not to be called unless the state is `talking`.
    virtual void feed(std::string_view bytes) = 0;
    /// The proxy ended the connection.
    void feed_end();

    State state() const noexcept { return state_; }
    /// What is to be sent before anything else can arrive; once.
    CleansedBytes take_output() { return std::exchange(output_, {}); }
    /// A sentence without its subject, which is the proxy; without secrets that the proxy did not
    /// repeat itself.
    const std::string& problem() const noexcept { return problem_; }

 protected:
    void finish() noexcept { state_ = State::done; }
    void fail(std::string problem) {
        state_ = State::failed;
        problem_ = std::move(problem);
    }
    void say(CleansedBytes bytes) { output_ = std::move(bytes); }
    /// Nothing may follow the last answer: the server has not been spoken to.
    void finish_unless_more(std::string_view rest);

 private:
    State state_ = State::talking;
    CleansedBytes output_;
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
