#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/environment.hpp"

#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Adds configured headers to the credentials of another source. Headers from files are re-read
/// like tokens. If one of them has no value, there are no usable credentials.
class HeaderFiles final : public CredentialSource {
 public:
    HeaderFiles(std::unique_ptr<CredentialSource>, const std::vector<HttpHeader>&,
                asio::any_io_executor strand, std::shared_ptr<Clock>, std::shared_ptr<FileCalls>,
                Logger logger = {});

    void async_get(Refused, Handler) override;

 private:
    RequestCredentials with_headers(RequestCredentials) const;

    std::unique_ptr<CredentialSource> source_;
    std::vector<std::string> names_;
    SecretTexts values_;
};

}  // namespace k8s_sd::inline v0::detail
