#include "k8s_sd/detail/net/byte_stream.hpp"
#include "k8s_sd/detail/net/tls.hpp"
#include "k8s_sd/environment.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

namespace {

class SystemConnector final : public Connector {
 public:
    explicit SystemConnector(detail::Dialing dialing) : dialing_(std::move(dialing)) {}

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

std::shared_ptr<Connector> system_connector(std::shared_ptr<Resolver> resolver,
                                            std::shared_ptr<Clock> clock) {
    if (!resolver) resolver = system_resolver();
    if (!clock) clock = system_clock();
    return std::make_shared<SystemConnector>(
        detail::Dialing{std::move(clock), std::move(resolver)});
}

}  // namespace k8s_sd::inline v0
