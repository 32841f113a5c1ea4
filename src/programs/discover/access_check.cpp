#include "access_check.hpp"

#include "cli/cluster.hpp"
#include "cli/json_text.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "k8s_sd/access.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/environment.hpp"
#include "monitor_check.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <unistd.h>
#include <chrono>
#include <memory>
#include <optional>
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

/// A failure is never truncated: the text names the remedy.
void print_text(const AccessCheckLine& line, const support::Terminal& terminal, LineWriter& out) {
    constexpr std::size_t longest = 4000;
    const bool failed = line.result == AccessCheckLine::Result::failed;
    const support::Tone tone = failed                                       ? support::Tone::removed
                               : line.result == AccessCheckLine::Result::ok ? support::Tone::added
                                                                            : support::Tone::faint;
    std::string result(to_string(line.result));
    result.resize(9, ' ');
    const auto text = support::StyledLine()
                          .add(result, tone)
                          .add(support::printable(line.step + ": " + line.text, longest));
    out << (failed ? terminal.whole(text) : terminal.fitted(text));
    out.end_line();
}

}  // namespace

support::ExitStatus check_access(Options options, LineWriter& out) {
    validate(options.config);
    boost::asio::io_context io(1);
    k8s_sd::Environment environment;
    if (options.log.format == support::LogFormat::text) {
        environment.logger.level = options.log.level;
    } else {
        environment.logger = support::EventLog("discover", options.log).logger();
    }
    k8s_sd::install(io, environment);
    std::unique_ptr<support::Cluster> simulation;
    if (options.sim) {
        simulation = std::make_unique<support::Cluster>(io.get_executor());
        options.config.api_server.url = simulation->server().url;
    } else {
        find_api_server(options.config);
    }
    bool all_fine = false;
    const support::Terminal terminal(STDOUT_FILENO, options.colours);
    const auto on_line = [&](const AccessCheckLine& line) {
        options.output == Output::json ? print_json(line, out) : print_text(line, terminal, out);
    };
    // A signal ends the check together with the programs it started.
    support::Signals signals(io.get_executor());
    boost::asio::cancellation_signal cancel;
    signals.async_wait([&](int) { cancel.emit(boost::asio::cancellation_type::terminal); });
    const k8s_sd::Duration step_timeout = options.timeout.value_or(std::chrono::seconds(10));
    std::optional<MonitorCheck> monitors;
    const auto end = [&] {
        // Called by the check itself.
        boost::asio::post(io, [&] { monitors.reset(); });
        simulation.reset();
        signals.cancel();
    };
    k8s_sd::async_check_access(
        io.get_executor(), options.config, on_line, step_timeout,
        boost::asio::bind_cancellation_slot(cancel.slot(), [&](k8s_sd::error_code ec, bool fine) {
            all_fine = fine;
            if (ec || !options.monitors) return end();
            signals.cancel();
            signals.async_wait([&](int) {
                all_fine = false;
                end();
            });
            monitors.emplace(io.get_executor(), options.config, step_timeout, on_line,
                             [&](bool monitors_fine) {
                                 all_fine = all_fine && monitors_fine;
                                 end();
                             });
        }));
    io.run();
    return all_fine ? support::exit_fine : support::exit_failed;
}

}  // namespace discover
