#include "access_check.hpp"

#include "k8s_sd/access_check.hpp"
#include "k8s_sd/api_server_lookup.hpp"
#include "k8s_sd/environment.hpp"
#include "support/cluster.hpp"
#include "support/json_text.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>

namespace discover {

namespace {

using k8s_sd::AccessCheckLine;

void print_json(const AccessCheckLine& line, LineWriter& out) {
    out << "{\"step\":";
    support::write_json(out, line.step);
    out << ",\"result\":";
    support::write_json(out, to_string(line.result));
    out << ",\"text\":";
    support::write_json(out, line.text);
    if (line.ec) {
        out << ",\"error\":";
        support::write_json(out, line.ec.message());
    }
    const double seconds = std::chrono::duration<double>(line.took).count();
    out << ",\"seconds\":" << std::to_string(seconds) << "}";
    out.end_line();
}

void print_text(const AccessCheckLine& line, LineWriter& out) {
    std::string result(to_string(line.result));
    result.resize(9, ' ');
    out << result << line.step << ": " << line.text;
    out.end_line();
}

}  // namespace

support::ExitStatus check_access(Options options, LineWriter& out) {
    validate(options.config);
    boost::asio::io_context io(1);
    k8s_sd::Environment environment;
    environment.logger.level = options.log_level;
    k8s_sd::install(io, environment);
    std::unique_ptr<support::Cluster> simulation;
    if (options.sim) {
        simulation = std::make_unique<support::Cluster>(io.get_executor());
        options.config.api_server.url = simulation->server().url;
    } else {
        find_api_server(options.config);
    }
    bool all_fine = false;
    const auto on_line = [&](const AccessCheckLine& line) {
        options.output == Output::json ? print_json(line, out) : print_text(line, out);
    };
    k8s_sd::async_check_access(io.get_executor(), options.config, on_line,
                               options.timeout.value_or(std::chrono::seconds(10)),
                               [&](k8s_sd::error_code, bool fine) {
                                   all_fine = fine;
                                   simulation.reset();
                               });
    io.run();
    return all_fine ? support::exit_fine : support::exit_failed;
}

}  // namespace discover
