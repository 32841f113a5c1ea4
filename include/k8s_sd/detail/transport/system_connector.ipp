#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_target.hpp"
#include "k8s_sd/detail/transport/tls/tls_contexts.hpp"
#include "k8s_sd/environment.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

namespace {

/// A copy whose inline private key is wiped on destruction.
std::shared_ptr<const TlsConfig> copy_of(const TlsConfig& config) {
    return {new TlsConfig(config), [](TlsConfig* copy) {
                detail::cleanse(copy->key.data(), copy->key.size());
                std::default_delete<TlsConfig>()(copy);
            }};
}

class SystemConnector final : public Connector {
 public:
    SystemConnector(detail::Dialing dialing, std::shared_ptr<FileCalls> calls, Logger logger)
        : dialing_(std::move(dialing)),
          contexts_(std::make_shared<detail::TlsContexts>(dialing_.clock, std::move(calls),
                                                          std::move(logger))) {}

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget& target) override {
        detail::ClientRoute route{target.host, target.port, {}};
        if (target.tls) {
            const std::string& name = target.tls->server_name;
            route.tls = client_tls(*target.tls, name.empty() ? target.host : name);
        }
        if (target.proxy) {
            route.proxy = detail::cleansed_copy(*target.proxy);
            if (target.proxy->protocol == ProxyTarget::Protocol::https) {
                route.proxy_tls = client_tls(target.proxy->tls, target.proxy->host);
                route.proxy_tls->trust = detail::TrustStore::and_system;
            }
        }
        return detail::make_client_stream(std::move(executor), std::move(route), dialing_);
    }

 private:
    detail::ClientTls client_tls(const TlsConfig& config, const std::string& name) const {
        return {nullptr, name, contexts_, copy_of(config)};
    }

    const detail::Dialing dialing_;
    const std::shared_ptr<detail::TlsContexts> contexts_;
};

}  // namespace

std::shared_ptr<Connector> system_connector(const Environment& environment) {
    detail::Dialing dialing{environment.clock ? environment.clock : system_clock(),
                            environment.resolver ? environment.resolver : system_resolver()};
    return std::make_shared<SystemConnector>(
        std::move(dialing), environment.file_calls ? environment.file_calls : system_file_calls(),
        environment.logger);
}

std::shared_ptr<Connector> system_connector() { return system_connector(Environment()); }

}  // namespace k8s_sd::inline v0
