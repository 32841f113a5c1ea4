#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The value of the Authorization header. Files are read again when their content is older than
/// 60 s; an unreadable, empty or malformed file never replaces a good value. Blocks on files.
/// Not thread-safe.
class Credentials {
 public:
    explicit Credentials(const AuthConfig&);

    /// Empty when the configuration has no credentials.
    /// \param ec       errc::credentials_unavailable when there never was a usable value
    /// \param problem  why the file or value cannot be used, also while an older value still
    ///                 serves; empty otherwise. Never holds a secret.
    std::string authorization(TimePoint now, error_code& ec, std::string& problem);

    /// Reads the file at once, as after a 401 answer. True when the value is different now. Who
    /// shares the object compares `authorization()` with what it sent: another request may have
    /// refreshed before.
    bool refresh(TimePoint now);

 private:
    enum class Scheme { none, bearer, basic };

    bool stale(TimePoint now) const noexcept;
    bool load(TimePoint now);
    bool accept(std::string_view value);
    CleansedBytes make_header(std::string_view value) const;

    Scheme scheme_ = Scheme::none;
    std::string username_;
    std::string file_;   ///< empty: the value is part of the configuration
    std::string field_;  ///< for texts: the field that the value comes from
    CleansedBytes header_;
    std::optional<TimePoint> read_at_;  ///< of the value in `header_`; empty after a failure
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
