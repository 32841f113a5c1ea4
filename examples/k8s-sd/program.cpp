#include "program.hpp"

#include "jobs/job_notes.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics_text.hpp"
#include "support/process_variables.hpp"
#include "support/server_options.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <iostream>
#include <limits>
#include <string>
#include <utility>

namespace bridge {

namespace asio = boost::asio;
using support::HttpServer;

namespace {

constexpr const char* built_in_config = R"yaml(
scrape_configs:
- job_name: pods
  kubernetes_sd_configs:
  - role: pod
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_phase]
    regex: Succeeded|Failed
    action: drop
  - source_labels: [__meta_kubernetes_pod_container_port_name]
    regex: metrics
    action: keep
  - source_labels: [__meta_kubernetes_namespace]
    target_label: namespace
  - source_labels: [__meta_kubernetes_pod_name]
    target_label: pod
- job_name: services
  kubernetes_sd_configs:
  - role: endpointslice
- job_name: nodes
  kubernetes_sd_configs:
  - role: node
)yaml";

void complain(const std::string& text) { std::cerr << "k8s-sd: " << text << std::endl; }

support::HttpLimits possible(support::HttpLimits limits) {
    const std::size_t wanted = std::exchange(limits.connections, make_room_for(limits.connections));
    if (limits.connections < wanted) {
        complain("as few files may be open, there is room for " +
                 std::to_string(limits.connections) + " connections, not " +
                 std::to_string(wanted) + "; see ulimit -n");
    }
    return limits;
}

}  // namespace

Program::Program(asio::io_context& io, Options options)
    : options_(std::move(options)),
      executor_(io.get_executor()),
      strand_(asio::make_strand(io)),
      signals_(strand_),
      listen_(listen_endpoint(options_.listen)),
      guard_(strand_, options_.tls, options_.access, listen_.address().is_loopback(), complain),
      jobs_(strand_, executor_, options_.serve, metrics_),
      allocator_(strand_, options_.allocator),
      server_(std::make_shared<HttpServer>(
          strand_, listen_, guard_.protect(routes(jobs_, allocator_, metrics_, route_events())),
          possible(options_.http), guard_.tls())) {
    find_cluster();
    if (!options_.write_folder.empty()) {
        file_worker_.emplace(1);
        files_.emplace(file_worker_->get_executor(), options_.serve.clock, options_.write_folder,
                       options_.write_form.value_or(ListForm::relabelled), complain,
                       metrics_.files);
    }
    // What is wrong from the start is not to be waited for.
    if (!options_.config_file.empty()) {
        k8s_sd::load_scrape_configs(options_.config_file, config_options());
    }
    asio::post(strand_, [this] { start(); });
}

void Program::find_cluster() {
    if (options_.sim) {
        cluster_.emplace(executor_);
        options_.server.api_server.url = cluster_->server().url;
    } else if (options_.single_job || !options_.allocator.selector.empty() ||
               support::names_server(options_.server)) {
        support::usable_server(options_.server);
    }
}

void Program::start() {
    out_ << "listens at " << support::url_of(*server_);
    out_.end_line();
    wait_for_signals();
    allocator_.start(options_.server);
    guard_.start();
    follow_config();
    if (cluster_) cluster_->start_changes(std::chrono::seconds(1));
}

k8s_sd::ScrapeConfigOptions Program::config_options() const {
    return {.dialect = options_.dialect,
            .strict = options_.strict,
            .variables = support::process_variables()};
}

/// The configuration of a program without a file.
k8s_sd::ScrapeConfigFile Program::fixed_config() const {
    if (!options_.single_job) {
        return k8s_sd::parse_scrape_configs(built_in_config, config_options(), "built-in");
    }
    k8s_sd::ScrapeJob job;
    job.scrape.job_name = options_.job_name.empty()
                              ? std::string(to_string(options_.discovery.role))
                              : options_.job_name;
    job.scrape.dialect = options_.dialect;
    job.discovery.name = job.scrape.job_name;
    job.discovery.configs = {options_.discovery};
    k8s_sd::ScrapeConfigFile file;
    file.jobs.push_back(std::move(job));
    return file;
}

void Program::follow_config() {
    if (options_.config_file.empty()) return use(fixed_config());
    reloader_.emplace(strand_, options_.config_file, config_options(), options_.check_interval,
                      [this](const k8s_sd::ScrapeConfigUpdate& update) { on_update(update); });
    reloader_->start();
}

void Program::on_update(const k8s_sd::ScrapeConfigUpdate& update) {
    try {
        if (!update.config) throw *update.error;
        // A mistake in a job is no reason to forget its targets.
        const auto& failures = update.config->failures;
        if (configured_ && !failures.empty()) throw k8s_sd::ScrapeConfigError(failures);
        use(*update.config);
        answer_reloads(support::text_reply(200, "ok\n"), update.checks);
    } catch (const k8s_sd::ConfigError& e) {
        refuse(e, update.checks);
    }
}

void Program::refuse(const k8s_sd::ConfigError& error, std::uint64_t checks) {
    if (!configured_) throw support::Unusable(error.what());
    const std::string text = std::string("the configuration stays as it is: ") + error.what();
    complain(text);
    trouble_ = text + "\n";
    answer_reloads(support::text_reply(500, trouble_), checks);
}

/// Once, not each time that the file is read.
void Program::tell_notes(const k8s_sd::ScrapeConfigFile& file) {
    std::set<std::string> notes;
    for (std::string& note : notes_of(file)) {
        if (!notes_.contains(note)) complain(note);
        notes.insert(std::move(note));
    }
    notes_.swap(notes);
}

void Program::use(k8s_sd::ScrapeConfigFile file) {
    tell_notes(file);
    trouble_.clear();
    for (const k8s_sd::ScrapeConfigFailure& failure : file.failures) {
        const std::string text = "left out: " + failure.where + ": " + failure.message;
        complain(text);
        trouble_ += text + "\n";
    }
    for (k8s_sd::ScrapeJob& job : file.jobs) {
        for (k8s_sd::DiscoveryConfig& config : job.discovery.configs) {
            const bool named = support::names_server(config);
            if (!named && support::names_server(options_.server)) {
                support::set_server(config, options_.server);
            }
        }
    }
    for (const std::string& problem : jobs_.apply(file)) complain(problem);
    for (const std::string& problem : allocator_.apply(file)) complain(problem);
    if (files_) files_->follow(jobs_);
    // Nobody is told that there is no such job before it is known which there are.
    if (!std::exchange(configured_, true)) server_->start();
}

RouteEvents Program::route_events() {
    return {.metrics =
                [this] {
                    auto& context = asio::query(executor_, asio::execution::context);
                    return k8s_sd::to_prometheus_text(*k8s_sd::metrics_of(context)) +
                           to_text(guard_.metrics(*server_));
                },
            .trouble = [this] { return trouble_; },
            .reload = [this](const auto&, const HttpServer::Respond& respond) { reload(respond); },
            .executor = strand_,
            .page_directory = options_.page_directory};
}

void Program::reload(const HttpServer::Respond& respond) {
    if (!reloader_) return respond(support::text_reply(400, "there is no file to read again\n"));
    reloads_.emplace(reloader_->check(), respond);
}

/// Those who asked before the look that the answer is about; it may not have seen what the others
/// have written.
void Program::answer_reloads(const HttpServer::Reply& reply, std::uint64_t checks) {
    while (!reloads_.empty() && reloads_.begin()->first <= checks) {
        reloads_.extract(reloads_.begin()).mapped()(reply);
    }
}

void Program::wait_for_signals() {
    signals_.async_wait([this](int signal) {
        if (signal != SIGHUP) return stop();
        guard_.look();
        if (reloader_) reloader_->check();
        wait_for_signals();
    });
}

// Everything that is outstanding ends, so that io_context::run() returns by itself. Who cannot wait
// for that sends the signal again, which ends the program at once.
void Program::stop() {
    signals_.cancel();
    guard_.stop();
    if (reloader_) reloader_->cancel();
    answer_reloads(support::text_reply(503, "the program is ending\n"),
                   std::numeric_limits<std::uint64_t>::max());
    jobs_.stop();
    allocator_.stop();
    if (cluster_) cluster_->stop();
    server_->stop();
}

}  // namespace bridge
