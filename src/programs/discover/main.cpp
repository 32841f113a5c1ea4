// Watches a Kubernetes cluster and prints its targets and their changes. See
// docs/programs/discover.md.

#include "access_check.hpp"
#include "cli/server_options.hpp"
#include "hub_clusters.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"
#include "notes.hpp"
#include "options.hpp"
#include "print_rbac.hpp"
#include "session.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>
#include <utility>

namespace {

using namespace discover;

cli::ExitStatus run(Options options) {
    check(options);
    LineWriter out;
    if (options.print_rbac) {
        print_rbac(options, out);
        return cli::exit_fine;
    }
    if (options.check) return check_access(std::move(options), out);
    if (options.timeout) options.deadline = std::chrono::steady_clock::now() + *options.timeout;
    // One thread runs everything.
    boost::asio::io_context io(1);
    if (!options.profiles_wanted) return Session(io, std::move(options), out).run();
    // A mistake in the options is one of no cluster, and needs no answer of the hub.
    k8s_sd::DiscoveryConfig hub_config = options.config;
    cli::usable_server(hub_config);
    k8s_sd::Environment environment;
    environment.logger = logger_of(options);
    k8s_sd::install(io, environment);
    HubClusters hub(io, options);
    auto status = cli::exit_fine;
    if (!hub.wait(status)) return status;
    return Session(io, std::move(options), out, &hub).run();
}

/// The error in words, with the name of the option or of the file at fault.
std::string in_words(const k8s_sd::ConfigError& error, const std::string& sd_config) {
    const std::string option(option_of_field(error.where()));
    if (option == "--kubeconfig" && !sd_config.empty()) return sd_config + ": " + error.what();
    return (option.empty() ? "" : option + ": ") + error.what();
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    return cli::run_program(command_line(options), argc, argv, [&] {
        // The configuration with the kubeconfig, unless an option names it.
        const std::string sd_config = options.own_kubeconfig ? "" : options.sd_config;
        try {
            return run(std::move(options));
        } catch (const k8s_sd::ConfigError& e) {
            throw cli::Unusable(in_words(e, sd_config));
        }
    });
}
