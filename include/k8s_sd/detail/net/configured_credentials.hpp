#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/net/credential_source.hpp"
#include "k8s_sd/environment.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Credentials that stand in the configuration, or in a file that it names. A value from a file
/// expires after 60 s; an unreadable, empty or malformed file never replaces a good value, and is
/// tried again with the next request. Answers at once; blocks on files.
class ConfiguredCredentials final : public CredentialSource {
 public:
    /// \param logger  is told once when a file turns bad while an older value serves, and once when
    ///                it is good again
    ConfiguredCredentials(const AuthConfig&, std::shared_ptr<Clock>, Logger logger = {});

    void async_get(Handler) override;

 private:
    enum class Scheme { none, bearer, basic };

    void load();
    void accept(std::string_view value);
    void report();
    CleansedBytes make_header(std::string_view value) const;

    std::shared_ptr<Clock> clock_;
    Scheme scheme_ = Scheme::none;
    std::string username_;
    std::string file_;      ///< empty: the value is part of the configuration
    std::string field_;     ///< for texts: the field that the value comes from
    CleansedBytes header_;  ///< the last good value
    std::string problem_;   ///< of the last value
    std::string reported_;  ///< the problem that was logged
    Logger logger_;
};

}  // namespace k8s_sd::inline v0::detail
