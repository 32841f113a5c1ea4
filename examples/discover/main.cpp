// Watches a Kubernetes cluster and prints its targets and how they change. See docs/examples.md.

#include "k8s_sd/error.hpp"
#include "k8s_sd/version.hpp"
#include "options.hpp"
#include "session.hpp"

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace discover;

ExitStatus run(const std::vector<std::string>& arguments) {
    Options options = parse_options(arguments);
    if (options.help) {
        std::cout << help_text() << std::flush;
        return exit_fine;
    }
    if (options.version) {
        std::cout << "discover (k8s_sd) " K8S_SD_VERSION << std::endl;
        return exit_fine;
    }
    LineWriter out;
    // One thread runs everything.
    boost::asio::io_context io(1);
    return Session(io, std::move(options), out).run();
}

void print_config_error(const k8s_sd::ConfigError& error) {
    std::cerr << "discover: ";
    const std::string_view option = option_of_field(error.where());
    if (!option.empty()) std::cerr << option << ": ";
    std::cerr << error.what() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    // A reader that goes away shall be an error of write(), not a signal.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run({argv + 1, argv + argc});
    } catch (const support::OutputEnded&) {
        return exit_fine;
    } catch (const UsageError& e) {
        std::cerr << "discover: " << e.what() << "\nTry 'discover --help'.\n";
        return exit_unusable;
    } catch (const k8s_sd::ConfigError& e) {
        print_config_error(e);
        return exit_unusable;
    } catch (const std::exception& e) {
        std::cerr << "discover: " << e.what() << '\n';
        return exit_failed;
    }
}
