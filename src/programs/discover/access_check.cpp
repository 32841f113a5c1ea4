#include "access_check.hpp"

#include "cli/cluster.hpp"
#include "cli/json_text.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "k8s_sd/access.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/environment.hpp"
#include "notes.hpp"
#include "watch_check.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <unistd.h>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace discover {

namespace {

using k8s_sd::AccessCheckLine;

/// \param cluster  empty: there is only one
void print_json(const AccessCheckLine& line, const std::string& cluster, LineWriter& out) {
    out << "{";
    if (!cluster.empty()) {
        out << "\"cluster\":";
        cli::write_json(out, cluster);
        out << ",";
    }
    out << "\"step\":";
    cli::write_json(out, line.step);
    out << ",\"result\":";
    cli::write_json(out, to_string(line.result));
    out << ",\"text\":";
    cli::write_json(out, line.text);
    if (line.ec) {
        out << ",\"error\":";
        cli::write_json(out, line.ec.message());
    }
    const double seconds = std::chrono::duration<double>(line.took).count();
    out << ",\"seconds\":" << std::to_string(seconds) << "}";
    out.end_line();
}

/// A failure is never truncated: the text names the remedy.
void print_text(const AccessCheckLine& line, const std::string& cluster,
                const cli::Terminal& terminal, LineWriter& out) {
    constexpr std::size_t max_size = 4000;
    const bool failed = line.result == AccessCheckLine::Result::failed;
    const cli::Tone tone = failed                                       ? cli::Tone::removed
                           : line.result == AccessCheckLine::Result::ok ? cli::Tone::added
                                                                        : cli::Tone::faint;
    std::string result(to_string(line.result));
    result.resize(9, ' ');
    const std::string name = cluster.empty() ? "" : "[" + cli::printable(cluster, 200) + "] ";
    const auto text = cli::StyledLine()
                          .add(name, cli::Tone::faint)
                          .add(result, tone)
                          .add(cli::printable(line.step + ": " + line.text, max_size));
    out << (failed ? terminal.whole(text) : terminal.fitted(text));
    out.end_line();
}

void print(const AccessCheckLine& line, const std::string& cluster, const Options& options,
           LineWriter& out) {
    if (options.output == Output::json) return print_json(line, cluster, out);
    print_text(line, cluster, cli::Terminal(STDOUT_FILENO, options.colours), out);
}

/// One after the other, up to a signal.
cli::ExitStatus check_each_cluster(Options options, LineWriter& out) {
    const auto warn = [&options](const std::string& text) {
        note(options, k8s_sd::LogLevel::warning, cli::Event::context_note, text);
    };
    const cli::ClusterOptions clusters = std::exchange(options.clusters, {});
    bool all_fine = true;
    const auto on_left_out = [&](const std::string& context, const std::string& why) {
        all_fine = false;
        print({.step = "configuration", .result = AccessCheckLine::Result::failed, .text = why},
              context, options, out);
    };
    for (k8s_sd::DiscoveryConfig& config :
         configs_of(options.config, clusters, warn, on_left_out)) {
        if (cli::Signals::end_is_wanted()) return cli::exit_failed;
        Options own = options;
        own.config = std::move(config);
        const bool is_fine = check_access(std::move(own), out) == cli::exit_fine;
        all_fine = all_fine && is_fine;
    }
    return all_fine ? cli::exit_fine : cli::exit_failed;
}

}  // namespace

cli::ExitStatus check_access(Options options, LineWriter& out) {
    if (options.clusters.several()) return check_each_cluster(std::move(options), out);
    validate(options.config);
    boost::asio::io_context io(1);
    k8s_sd::Environment environment;
    environment.logger = logger_of(options);
    k8s_sd::install(io, environment);
    std::unique_ptr<cli::Cluster> simulation;
    if (options.sim) {
        simulation = std::make_unique<cli::Cluster>(io.get_executor());
        options.config.api_server.url = simulation->server().url;
    } else {
        find_api_server(options.config);
    }
    bool all_fine = false;
    const auto on_line = [&](const AccessCheckLine& line) {
        print(line, options.config.cluster.name, options, out);
    };
    // A signal ends the check together with the programs it started.
    cli::Signals signals(io.get_executor());
    boost::asio::cancellation_signal cancel;
    signals.wait([&](int) { cancel.emit(boost::asio::cancellation_type::terminal); });
    const k8s_sd::Duration step_timeout = options.timeout.value_or(std::chrono::seconds(10));
    std::optional<WatchCheck> watches;
    const auto end = [&] {
        // Called by the check itself.
        boost::asio::post(io, [&] { watches.reset(); });
        simulation.reset();
        signals.cancel();
    };
    const auto check_watches = [&](std::vector<k8s_sd::WatcherConfig> configs) {
        signals.cancel();
        signals.wait([&](int) {
            all_fine = false;
            end();
        });
        watches.emplace(io.get_executor(), std::move(configs), step_timeout, on_line,
                        [&](bool watches_fine) {
                            all_fine = all_fine && watches_fine;
                            end();
                        });
    };
    if (options.profiles_wanted) {
        all_fine = true;
        check_watches(watches_of_profiles(options.config, options.profiles));
    } else {
        k8s_sd::async_check_access(io.get_executor(), options.config, on_line, step_timeout,
                                   boost::asio::bind_cancellation_slot(
                                       cancel.slot(), [&](k8s_sd::error_code ec, bool fine) {
                                           all_fine = fine;
                                           if (ec || !options.monitors) return end();
                                           check_watches(watches_of_monitors(options.config));
                                       }));
    }
    io.run();
    return all_fine ? cli::exit_fine : cli::exit_failed;
}

}  // namespace discover
