#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/net/credential_source.hpp"
#include "k8s_sd/detail/net/file_reader.hpp"
#include "k8s_sd/environment.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Credentials that stand in the configuration, or in a file that it names. A value from a file
/// expires after 60 s; a file that is unreadable, empty, malformed or takes longer than 10 s never
/// replaces a good value, and is tried again with the next request.
class ConfiguredCredentials final : public CredentialSource {
 public:
    /// \param logger  is told once when a file turns bad while an older value serves, and once when
    ///                it is good again
    ConfiguredCredentials(const AuthConfig&, asio::any_io_executor strand, std::shared_ptr<Clock>,
                          std::shared_ptr<FileCalls>, Logger logger = {});

    void async_get(Handler) override;

 private:
    enum class Scheme { none, bearer, basic };

    void on_content(const FileContent&);
    Authorization answer() const;
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
    FileReader reader_;
};

}  // namespace k8s_sd::inline v0::detail
