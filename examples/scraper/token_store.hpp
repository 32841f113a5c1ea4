#pragma once

#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/config.hpp"
#include "scrape_loop.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <string_view>

namespace scraper {

/// Bearer tokens from Secrets, watched as long as targets need them. For one thread.
class TokenStore {
 public:
    /// Names a token, "namespace/secret/key". Set by relabelling; hidden by its prefix "__".
    static constexpr std::string_view label = "__token_secret__";

    /// The Secrets are on the configuration's server.
    /// \throws k8s_sd::ConfigError
    TokenStore(boost::asio::any_io_executor, const k8s_sd::DiscoveryConfig&);

    /// Reads the token for each scrape, so a rotated one is used at once. Must not be used after
    /// the destruction of the store.
    GetToken source(std::string_view secret);

 private:
    k8s_sd::ObjectCache cache_;
};

}  // namespace scraper
