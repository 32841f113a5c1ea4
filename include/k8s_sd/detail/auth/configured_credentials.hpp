#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/environment.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace k8s_sd::inline v0::detail {

/// A token, or user and password, from the configuration or its files. Values from files expire
/// after 60 s; a faulty file is read again for the next request. See SecretTexts.
class ConfiguredCredentials final : public CredentialSource {
 public:
    ConfiguredCredentials(const AuthConfig&, asio::any_io_executor strand, std::shared_ptr<Clock>,
                          std::shared_ptr<FileCalls>, Logger logger = {});

    void async_get(Refused, Handler) override;

 private:
    enum class Form { none, token, basic };

    RequestCredentials answer() const;
    CleansedBytes make_header() const;

    Form form_ = Form::none;
    std::string scheme_;
    SecretTexts texts_;
    std::size_t username_ = 0;
    std::size_t secret_ = 0;  ///< token or password
};

}  // namespace k8s_sd::inline v0::detail
