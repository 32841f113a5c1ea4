// Watches any resource, custom ones too, and prints its changes: one line for each object, with the
// requested fields. A coroutine reads the diffs.
//
//     crd_watch [OPTION]... [URL]      without a server: a simulated cluster with Widgets
//
// See coroutine.cpp for the workarounds for co_await in g++ 12.

#include "cli/cluster.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/small_example.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// The arguments of the command line besides the server.
struct Wanted {
    k8s_sd::ResourceName resource{.group = "example.com", .kind = "Widget"};
    std::vector<std::string> fields;  ///< empty: all
};

/// "apps/Deployment", "Pod"
void set_resource(k8s_sd::ResourceName& resource, const std::string& text) {
    const std::size_t slash = text.find('/');
    resource.group = slash == std::string::npos ? "" : text.substr(0, slash);
    resource.kind = slash == std::string::npos ? text : text.substr(slash + 1);
}

void print(char sign, const k8s_sd::Generic& object) {
    std::cout << sign << ' ' << object.metadata.namespace_ << '/' << object.metadata.name << ' '
              << object.content << std::endl;
}

asio::awaitable<void> follow(k8s_sd::Watcher<k8s_sd::Generic>& watcher, unsigned diffs) {
    while (true) {
        error_code ec;
        const k8s_sd::ObjectDiff<k8s_sd::Generic> diff =
            co_await watcher.async_next(asio::redirect_error(asio::use_awaitable, ec));
        if (ec) co_return;
        for (const auto& object : diff.added) print('+', *object);
        for (const auto& [before, after] : diff.changed) print('~', *after);
        for (const auto& object : diff.removed) print('-', *object);
        if (diffs > 0 && --diffs == 0) co_return;
    }
}

void run(const support::Arguments& arguments, const Wanted& wanted) {
    asio::io_context io;
    cli::Cluster cluster(io.get_executor(), arguments.server, cli::Scene::widgets);
    cluster.start_changes(std::chrono::milliseconds(100));
    k8s_sd::WatcherConfig config = cluster.watcher_config();
    config.resource = wanted.resource;
    if (!wanted.fields.empty()) config.fields = k8s_sd::Fields(wanted.fields);

    k8s_sd::Watcher<k8s_sd::Generic> watcher(io.get_executor(), config);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](error_code, int) { watcher.cancel(); });
    std::exception_ptr failure;
    const auto end = [&](std::exception_ptr error) {
        failure = error;
        signals.cancel();
        cluster.stop();
    };
    asio::co_spawn(io, follow(watcher, arguments.diffs), end);
    io.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

int main(int argc, char** argv) {
    Wanted wanted;
    return support::run_example(
        "crd_watch", "Prints what changes in any resource, custom ones too.", argc, argv,
        [&](const support::Arguments& arguments) { run(arguments, wanted); },
        {{"--resource", "[GROUP/]KIND", "what to watch; default: example.com/Widget",
          [&](const std::string& value) { set_resource(wanted.resource, value); }},
         {"--field", "PATH", "print this field only, \"spec.replicas\"; may be repeated",
          [&](const std::string& value) { wanted.fields.push_back(value); }}});
}
