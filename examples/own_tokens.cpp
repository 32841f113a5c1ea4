// A host with tokens from its own source, here a vault with some delay: a TokenSource. The server
// accepts each token for a limited time; the watch continues with the next one.
//
//     own_tokens      with a simulated cluster, until two tokens were used

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/api_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Issues tokens. The server knows only the last one.
class Vault {
 public:
    Vault(asio::io_context& io, k8s_sd::sim::ApiServer& server) : timer_(io), server_(server) {}

    void async_make_token(std::function<void(std::string)> done) {
        timer_.expires_after(100ms);
        timer_.async_wait([this, done = std::move(done)](boost::system::error_code ec) {
            if (ec) return;
            const std::string token = "token-" + std::to_string(++made_);
            server_.set_token(token);
            done(token);
        });
    }
    int made() const noexcept { return made_; }

 private:
    asio::steady_timer timer_;
    k8s_sd::sim::ApiServer& server_;
    int made_ = 0;
};

//[own_tokens
/// The source of tokens for discovery. The library calls it once for all watches, shortly before a
/// token expires or after the server has refused it, with pauses after failures. It may call the
/// handler on any thread.
class VaultTokens final : public k8s_sd::TokenSource {
 public:
    explicit VaultTokens(Vault& vault) : vault_(vault) {}

    void async_get_token(bool refused, Handler handler) override {
        std::cout << (refused ? "the last token was refused" : "a token is needed") << std::endl;
        vault_.async_make_token([handler = std::move(handler)](const std::string& token) {
            // A problem would be handler(error, "what is wrong", {}).
            handler({}, {}, {.value = token, .expiry = std::chrono::system_clock::now() + 1h});
        });
    }

 private:
    Vault& vault_;
};
//]

}  // namespace

int main(int argc, char**) {
    if (argc > 1) {
        std::cerr << "usage: own_tokens\n";
        return 2;
    }
    asio::io_context io;
    std::optional<k8s_sd::sim::ApiServer> server(std::in_place, io.get_executor());
    server->apply(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status":
                     {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}})");
    server->listen();

    Vault vault(io, *server);
    k8s_sd::DiscoveryConfig config;
    config.role = k8s_sd::Role::node;
    config.api_server.url = server->url();
    config.api_server.auth.token_source = std::make_shared<VaultTokens>(vault);

    std::optional<k8s_sd::Discoverer> discoverer;
    discoverer.emplace(io.get_executor(), config, [&](const auto& diff) {
        for (const auto& change : diff.updated) {
            std::cout << change.group->source() << ", seen with token " << vault.made()
                      << std::endl;
            if (change.group->source() == "node/b") discoverer->cancel();
        }
    });
    discoverer->async_run([&](boost::system::error_code ec) {
        std::cout << "discovery ended: " << ec.message() << std::endl;
        server.reset();  // otherwise its work keeps the context running
    });

    // After a second the server refuses the token and ends the watch; later a node is added.
    asio::steady_timer timer(io);
    timer.expires_after(1s);
    timer.async_wait([&](boost::system::error_code) {
        server->set_token("another-one");
        server->end_watches();
        timer.expires_after(2s);
        timer.async_wait([&](boost::system::error_code) {
            server->apply(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"},
                "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.2"}]}})");
        });
    });
    io.run();
}
