// One process discovers for a whole fleet of agents, in any language, and serves lists of targets
// over HTTP. See docs/programs/k8s-sd.md.

#include "cli/command_line.hpp"
#include "cli/event_log.hpp"
#include "cli/service_manager.hpp"
#include "cli/threads.hpp"
#include "config_check.hpp"
#include "follow/follow_main.hpp"
#include "k8s_sd/environment.hpp"
#include "options.hpp"
#include "program.hpp"

#include <boost/asio/io_context.hpp>
#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "follow") {
        return k8s_sd_program::run_follow(argc - 1, argv + 1);
    }
    k8s_sd_program::Options options;
    return support::run_program(k8s_sd_program::command_line(options), argc, argv, [&] {
        check(options);
        if (options.check) return k8s_sd_program::check_config(options, std::cout, std::cerr);
        boost::asio::io_context io(static_cast<int>(options.threads));
        k8s_sd::Environment environment;
        const support::EventLog log("k8s-sd", options.log);
        environment.logger = log.logger();
        support::record(options.record, environment,
                        log.writer(k8s_sd::LogLevel::warning, support::Event::recording));
        k8s_sd::install(io, environment);
        options.service_manager = support::ServiceManager::address_in_environment();
        k8s_sd_program::Program program(io, options);
        support::run_threads(io, options.threads);
        return support::exit_fine;
    });
}
