#pragma once

#include "k8s_sd/error.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Unpacks a body with Content-Encoding: gzip (RFC 1952), in whatever pieces it comes. Members one
/// behind the other are one body. Needs 128 KiB, however large the body is, and cleanses them: the
/// body may be secret.
class Inflater {
 public:
    /// An error ends the unpacking with that error.
    using Sink = std::function<error_code(std::string_view bytes)>;

    Inflater();
    ~Inflater();
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    /// \returns errc::malformed_response for what is not gzip, or grows a thousandfold: no list of
    /// objects does. The body is not to be fed any further then.
    error_code feed(std::string_view bytes, const Sink& sink);
    /// At the end of the body. \returns errc::truncated_response inside of a member.
    error_code finish();
    /// What the last error means, in words; empty if it was the sink's.
    const std::string& problem() const noexcept { return problem_; }

 private:
    struct State;
    error_code fail(errc what, std::string why);

    std::unique_ptr<State> state_;
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
