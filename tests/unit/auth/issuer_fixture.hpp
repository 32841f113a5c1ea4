#pragma once

#include "k8s_sd/detail/auth/credentials.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "support/fake_program_runner.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"
#include "support/text_server.hpp"

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::test {

/// Clients of one server, each with its credentials, as seen by their watches.
struct Issuers {
    explicit Issuers(ApiServerConfig server) : config(std::move(server)) { add_client(); }
    Issuers(const Issuers&) = delete;
    Issuers& operator=(const Issuers&) = delete;

    void add_client() {
        Environment environment;
        environment.clock = clock;
        environment.connector = service;
        environment.file_calls = files;
        environment.programs = programs;
        environment.logger.write = [this](LogLevel, std::string_view line) {
            log.emplace_back(line);
        };
        environment = detail::with_defaults(std::move(environment));
        clients.push_back(std::make_unique<detail::Credentials>(
            detail::make_credential_source(config, context.get_executor(), environment), clock));
    }
    /// The value of the header, or "error: ", or "" while no result has arrived.
    std::string get(std::size_t client = 0) {
        received = std::make_shared<std::string>();
        clients[client]->async_get(
            [this, here = received](const detail::RequestCredentials& answer) {
                *here = answer.ec ? "error: " + answer.problem
                                  : std::string(detail::view(answer.value));
                problem = answer.problem;
                headers = detail::view(answer.headers);
                identity = answer.identity;
                revision = answer.revision;
            });
        settle();
        return *received;
    }
    /// Reports a 401; the result is whether other credentials exist; nullopt until it arrives.
    std::shared_ptr<std::optional<bool>> refuse(std::size_t client = 0) {
        auto changed = std::make_shared<std::optional<bool>>();
        clients[client]->async_refresh(revision, [changed](bool is) { *changed = is; });
        settle();
        return changed;
    }
    void settle() { test::settle(context); }
    void advance(Duration time) {
        clock->advance(time);
        settle();
    }

    boost::asio::io_context context;
    ApiServerConfig config;
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    std::shared_ptr<sim::ManualFiles> files = std::make_shared<sim::ManualFiles>();
    std::shared_ptr<FakeProgramRunner> programs = std::make_shared<FakeProgramRunner>();
    std::shared_ptr<TextServer> service = std::make_shared<TextServer>();
    std::vector<std::string> log;
    std::shared_ptr<std::string> received;  ///< the last caller's result
    std::string problem, headers;
    std::shared_ptr<const detail::ClientIdentity> identity;
    std::uint64_t revision = 0;
    std::vector<std::unique_ptr<detail::Credentials>> clients;
};

}  // namespace k8s_sd::test
