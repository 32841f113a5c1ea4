#include "k8s_sd/detail/net/byte_stream.hpp"
#include "k8s_sd/detail/net/tls.hpp"
#include "k8s_sd/environment.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

namespace {

class SystemConnector final : public Connector {
 public:
    SystemConnector(detail::Dialing dialing, Logger logger)
        : dialing_(std::move(dialing)), contexts_(std::move(logger)) {}

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget& target) override {
        std::optional<detail::ClientTls> tls;
        if (target.tls) tls = client_tls(target.host, *target.tls);
        return detail::make_client_stream(std::move(executor), target.host, target.port,
                                          std::move(tls), dialing_);
    }

 private:
    detail::ClientTls client_tls(const std::string& host, const TlsConfig& config) {
        detail::ClientTls result;
        result.server_name = config.server_name.empty() ? host : config.server_name;
        try {
            result.context = contexts_.get(config, dialing_.clock->now());
        } catch (const detail::TlsError& error) {
            result.problem = error.what();
        }
        return result;
    }

    const detail::Dialing dialing_;
    detail::TlsContexts contexts_;
};

}  // namespace

std::shared_ptr<Connector> system_connector(const Environment& environment) {
    detail::Dialing dialing{environment.clock ? environment.clock : system_clock(),
                            environment.resolver ? environment.resolver : system_resolver()};
    return std::make_shared<SystemConnector>(std::move(dialing), environment.logger);
}

std::shared_ptr<Connector> system_connector() { return system_connector(Environment()); }

}  // namespace k8s_sd::inline v0
