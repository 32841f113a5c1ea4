#include "token_store.hpp"

#include "k8s_sd/error.hpp"

#include <memory>
#include <string>
#include <utility>

namespace scraper {

namespace {

using k8s_sd::ObjectCache;

k8s_sd::ObjectCacheConfig cache_config(const k8s_sd::DiscoveryConfig& discovery) {
    k8s_sd::ObjectCacheConfig config;
    config.kind = k8s_sd::Kind::secret;
    config.api_server = discovery.api_server;
    config.kubeconfig_file = discovery.kubeconfig_file;
    config.kubeconfig_context = discovery.kubeconfig_context;
    return config;
}

/// Removes the text before the first slash, or the whole text, and returns it.
std::string_view take_part(std::string_view& text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::string_view part = text.substr(0, slash);
    text.remove_prefix(std::min(slash + 1, text.size()));
    return part;
}

GetToken failing(const std::string& error) {
    return [error](bool, const TokenHandler& handler) { handler(error, {}); };
}

}  // namespace

TokenStore::TokenStore(boost::asio::any_io_executor executor,
                       const k8s_sd::DiscoveryConfig& discovery)
    : cache_(std::move(executor), cache_config(discovery)) {}

GetToken TokenStore::source(std::string_view secret) {
    const std::string_view ns = take_part(secret);
    const std::string_view name = take_part(secret);
    const std::string key(secret);
    std::shared_ptr<ObjectCache::Reference> reference;
    try {
        reference = std::make_shared<ObjectCache::Reference>(cache_.add_reference(ns, name));
    } catch (const k8s_sd::ConfigError& e) {
        return failing(e.what());
    }
    return [this, reference, key](bool refused, const TokenHandler& handler) {
        // An immutable Secret may have been deleted and created again.
        if (refused) cache_.read_again(*reference);
        cache_.async_get(
            *reference, [handler, key](k8s_sd::error_code ec, const k8s_sd::ObjectPtr& object) {
                if (ec) return handler(ec.message(), {});
                const auto token = k8s_sd::as_data_object(object)->get(key);
                token ? handler({}, *token) : handler("the Secret has no key " + key, {});
            });
    };
}

}  // namespace scraper
