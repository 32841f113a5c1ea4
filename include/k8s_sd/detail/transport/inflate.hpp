#pragma once

#include "k8s_sd/error.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Decompresses a body with Content-Encoding: gzip (RFC 1952) incrementally. Concatenated members
/// form one body, as in a compressed watch: the server ends a member with each write. The bytes
/// decompressible so far go to the sink at once. Uses 128 KiB within a member and none between two
/// members, wiped because the body may be secret.
class Inflater {
 public:
    /// An error stops the decompression with that error.
    using Sink = std::function<error_code(std::string_view bytes)>;

    Inflater();
    ~Inflater();
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    /// \returns errc::malformed_response for invalid gzip, or a ratio above 1000, far beyond a list
    /// of objects. No further calls are allowed then.
    error_code feed(std::string_view bytes, const Sink& sink);
    /// Call at the end of the body.
    /// \returns errc::truncated_response inside a member
    error_code finish();
    /// Whether a member has begun and not ended; otherwise there is no memory for decompression.
    bool is_in_member() const noexcept { return state_ != nullptr; }
    /// Describes the last error; empty if the sink returned it.
    const std::string& problem() const noexcept { return problem_; }

 private:
    struct State;
    error_code unpack_part(const Sink& sink);
    bool grows_too_much() const noexcept;
    error_code fail(errc what, std::string why);

    std::unique_ptr<State> state_;  ///< null: between two members
    std::uint64_t packed_ = 0;      ///< bytes of all members
    std::uint64_t unpacked_ = 0;
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
