#include "follow/follow_main.hpp"

#include "cli/command_line.hpp"
#include "cli/event_log.hpp"
#include "cli/line_writer.hpp"
#include "cli/option_values.hpp"
#include "cli/server_options.hpp"
#include "files/target_folder.hpp"
#include "follow/follower.hpp"
#include "follow/list_client.hpp"
#include "follow/list_source.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <list>
#include <set>
#include <string>
#include <vector>

namespace k8s_sd_program {

namespace asio = boost::asio;

namespace {

using cli::UsageError;
using Text = const std::string&;

struct FollowOptions {
    std::vector<ListSource> sources;
    std::string folder;
    std::chrono::nanoseconds interval = std::chrono::seconds(10);
    ListClientOptions client;
    cli::LogOptions log;
};

cli::Section follow_options(FollowOptions& o) {
    cli::Section section{
        "Follow",
        {{"--write-dir", "DIR", "where the files are, for file_sd_configs; created if missing",
          cli::text(o.folder), true},
         {"--wait", "SECONDS", "how long a request waits for a change, 1 to 300 (default 60)",
          [&](Text v) {
              o.client.wait =
                  std::chrono::seconds(cli::number(v, 1U, 300U, "a whole number from 1 to 300"));
          }},
         {"--interval", "SECONDS",
          "how often to ask a server that does not let requests wait (default 10)",
          [&](Text v) { o.interval = cli::seconds(v); }},
         {"--max-bytes", "N", "longer lists are refused (default 268435456)", [&](Text v) {
              constexpr std::uint64_t max = std::uint64_t{1} << 40;
              o.client.body_bytes = cli::number(v, std::uint64_t{1}, max, "1 to 1099511627776");
          }}}};
    for (cli::Option& option : cli::log_options(o.log)) {
        // The library is not used here.
        if (option.name != "--log-level") section.options.push_back(std::move(option));
    }
    return section;
}

cli::Section client_options(FollowOptions& o) {
    const auto file = [](std::string& path) {
        return [&path](Text v) { path = cli::readable_file(v); };
    };
    return {"Credentials and trust",
            {{"--ca-file", "FILE", "trusted CA certificates (default: the system's)",
              file(o.client.ca_file)},
             cli::Option{"--client-cert", "FILE", "the client's certificate, PEM",
                         file(o.client.cert_file)}
                 .with({"--client-key"}),
             cli::Option{"--client-key", "FILE", "its key", file(o.client.key_file)}.with(
                 {"--client-cert"}),
             {"--token-file", "FILE", "a bearer token, read for each request",
              file(o.client.token_file)}}};
}

cli::CommandLine command_line(FollowOptions& o) {
    return {.program = "k8s-sd follow",
            .about = "Keeps lists of targets in files, for file_sd_configs of an agent beside it. "
                     "A change arrives\nat once: requests wait for it at the server.\n\n"
                     "  k8s-sd follow http://k8s-sd:8080/sd/pods/targets --write-dir /targets\n",
            .sections = {follow_options(o), client_options(o)},
            .positional = {"URL",
                           "a list; its job names the file, or NAME=URL does; there may be "
                           "several",
                           [&](Text v) { o.sources.push_back(read_list_source(v)); }, true},
            .notes = "If the server does not respond with a list, the file stays unchanged. Exit "
                     "status: 0 ended\nby SIGINT or SIGTERM, 2 unusable arguments, 1 anything "
                     "else.\n",
            .print_error = cli::error_writer("k8s-sd follow", o.log)};
}

void check(const FollowOptions& o) {
    if (o.sources.empty()) throw UsageError("needs the URL of a list");
    std::set<std::string> names;
    for (const ListSource& source : o.sources) {
        if (names.insert(source.name).second) continue;
        throw UsageError("two lists are called " + source.name + "; give NAME=URL");
    }
}

ListClientOptions with_warnings(ListClientOptions options, const cli::EventLog& log) {
    options.warn = log.writer(k8s_sd::LogLevel::warning, cli::Event::list_doubtful);
    return options;
}

/// A list with its client.
struct Followed {
    Followed(asio::io_context& io, const ListSource& source, const FollowOptions& options,
             const TargetFolder& folder, FileMetrics& metrics)
        : log("k8s-sd follow", options.log),
          client(io.get_executor(), source, with_warnings(options.client, log)),
          list(folder, source,
               std::chrono::duration_cast<std::chrono::milliseconds>(options.interval),
               log.writer(k8s_sd::LogLevel::warning, cli::Event::file_problem), metrics) {}

    const cli::EventLog log;
    ListClient client;
    FollowedList list;
};

/// SIGINT and SIGTERM end the process at once: files are consistent at any time, and a name lookup
/// cannot be interrupted.
void follow_all(const FollowOptions& o) {
    const TargetFolder folder(o.folder);
    FileMetrics metrics;
    asio::io_context io;
    std::list<Followed> lists;
    const auto on_end = [](const std::exception_ptr& error) {
        if (error) std::rethrow_exception(error);
    };
    cli::LineWriter out;
    for (const ListSource& source : o.sources) {
        out << "follows " << source.url << " in " << file_name_of(source.name);
        out.end_line();
        Followed& followed = lists.emplace_back(io, source, o, folder, metrics);
        asio::co_spawn(io, follow(io.get_executor(), followed.client, followed.list), on_end);
    }
    io.run();
}

}  // namespace

int run_follow(int argc, char** argv) {
    FollowOptions options;
    return cli::run_program(command_line(options), argc, argv, [&] {
        check(options);
        follow_all(options);
        return cli::exit_fine;
    });
}

}  // namespace k8s_sd_program
