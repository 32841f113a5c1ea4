#include "program.hpp"

#include "cli/cluster_options.hpp"
#include "cli/option_values.hpp"
#include "cli/server_options.hpp"
#include "cli/terminal_text.hpp"
#include "cli/warm_options.hpp"
#include "jobs/job_notes.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace asio = boost::asio;
using cli::Event;
using http::HttpServer;

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

http::HttpLimits possible(http::HttpLimits limits, const cli::EventLog& log) {
    const std::size_t wanted = std::exchange(limits.connections, make_room_for(limits.connections));
    if (limits.connections < wanted) {
        log.write(k8s_sd::LogLevel::warning, Event::connections_limited,
                  "as few files may be open, there is room for " +
                      std::to_string(limits.connections) + " connections, not " +
                      std::to_string(wanted) + "; see ulimit -n");
    }
    return limits;
}

ServeOptions serve_options(ServeOptions options, const cli::EventLog& log) {
    using enum k8s_sd::LogLevel;
    if (!options.warm_start.directory.empty() && options.start_without_clusters) {
        // Targets of a snapshot are to be in the first list.
        constexpr std::chrono::seconds reading{5};
        options.start_without_clusters = std::max<std::chrono::nanoseconds>(
            *options.start_without_clusters, options.warm_start.server_timeout + reading);
    }
    options.on_complete = [log](const std::string& job, const JobTargetCounts& counts) {
        log.write(info, Event::job_complete,
                  "job " + job + ": its list is complete, with " +
                      cli::counted(counts.active, "target") + " of " +
                      std::to_string(counts.discovered) + " discovered",
                  {{"job", job}, {"targets", counts.active}, {"discovered", counts.discovered}});
    };
    options.on_missing_clusters = [log](const std::string& job, const JobTargetCounts& counts,
                                        const std::vector<std::string>& missing) {
        log.write(warning, Event::job_without_clusters,
                  "job " + job + ": its list is served with " +
                      cli::counted(counts.active, "target") + ", without " +
                      cli::counted(missing.size(), "cluster") + ": " +
                      cli::printable(cli::listed(missing, 20), 2000),
                  {{"job", job}, {"targets", counts.active}, {"missing_clusters", missing.size()}});
    };
    options.on_failed = [log](const std::string& job, const JobTargetCounts& counts,
                              const std::string& example) {
        log.write(warning, Event::targets_failed,
                  "job " + job + ": " + cli::counted(counts.failed, "target") +
                      " cannot be scraped, such as " + example,
                  {{"job", job}, {"targets", counts.failed}});
    };
    return options;
}

/// ", 2 removed: a, b", or an empty text.
std::string part(const std::vector<std::string>& names, const char* what) {
    if (names.empty()) return {};
    return ", " + std::to_string(names.size()) + " " + what + ": " + cli::listed(names, 20);
}

/// Requests in a recording do not name their server.
bool has_several_servers(const k8s_sd::ScrapeConfigFile& file) {
    std::set<std::array<std::string, 3>> servers;
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        for (const k8s_sd::DiscoveryConfig& config : job.discovery.configs) {
            servers.insert(
                {config.api_server.url, config.kubeconfig_file, config.kubeconfig_context});
        }
    }
    return servers.size() > 1;
}

/// Jobs forget unused lists by the clock of the counts of their allocation.
Options with_one_clock(Options options) {
    options.allocator.clock = options.serve.clock;
    return options;
}

}  // namespace

Program::Program(asio::io_context& io, Options options)
    : options_(with_one_clock(std::move(options))),
      executor_(io.get_executor()),
      strand_(asio::make_strand(io)),
      log_("k8s-sd", options_.log),
      service_manager_(strand_, options_.service_manager),
      signals_(strand_),
      listen_(listen_endpoint(options_.listen)),
      guard_(strand_, options_.tls, options_.access, listen_.address().is_loopback(),
             warning_writer(Event::certificate)),
      profiles_(strand_),
      monitors_(strand_, options_.monitors),
      follow_timer_(options_.serve.clock->make_timer(strand_)),
      jobs_(strand_, executor_, serve_options(options_.serve, log_), metrics_),
      allocator_(strand_, options_.allocator),
      allocation_count_(std::make_shared<AllocationCount>(
          strand_, jobs_, allocator_, warning_writer(Event::targets_unassigned))),
      slow_(std::make_shared<SlowWork>(executor_)),
      routes_(k8s_sd_program::routes(jobs_, allocator_, metrics_, route_events())),
      server_(std::make_shared<HttpServer>(strand_, listen_, guard_.protect(routes_),
                                           possible(options_.http, log_), guard_.tls())) {
    find_cluster();
    cli::make_snapshot_directory(options_.serve.warm_start);
    if (!options_.write_folder.empty()) {
        files_.emplace(file_worker(), options_.serve.clock, options_.write_folder,
                       options_.write_form.value_or(ListForm::relabelled),
                       warning_writer(Event::file_problem), metrics_.files);
    }
    // Fail at once if the configuration is invalid from the start.
    if (!options_.config_file.empty()) {
        check_lists_jobs(
            k8s_sd::load_scrape_configs(options_.config_file, scrape_config_options(options_)),
            options_.config_file);
    }
    asio::post(strand_, [this] { start(); });
}

/// A thread that the disk may block.
const asio::any_io_executor& Program::file_worker() {
    if (!options_.file_worker) options_.file_worker = file_worker_.emplace(1).get_executor();
    return options_.file_worker;
}

void Program::find_cluster() {
    if (options_.sim) {
        cluster_.emplace(executor_);
        options_.server.api_server.url = cluster_->server().url;
    } else if (options_.clusters.profiles) {
        cli::usable_server(options_.server);
    } else if (!options_.clusters.several() &&
               (options_.single_job || !options_.allocator.selector.empty() ||
                monitors_.enabled() || cli::names_server(options_.server))) {
        cli::usable_server(options_.server);
    }
    servers_ =
        cli::configs_of(options_.server, options_.clusters, warning_writer(Event::context_note));
}

bool Program::add_servers(k8s_sd::SharedList<k8s_sd::DiscoveryConfig>& configs,
                          std::vector<std::string>& notes) const {
    k8s_sd::SharedList<k8s_sd::DiscoveryConfig> all;
    bool any_without = false;
    for (std::size_t i = 0; i < configs.size(); ++i) {
        k8s_sd::DiscoveryConfig config = configs[i];
        cli::prepare_to_record(options_.record, config);
        if (cli::names_server(config)) {
            // Jobs share equal configurations.
            if (config == configs[i]) {
                all.share(configs.pointer(i));
            } else {
                all.push_back(std::move(config));
            }
            continue;
        }
        any_without = true;
        if (options_.clusters.several() && !config.cluster.name.empty()) {
            notes.push_back("cluster: " + cli::printable(config.cluster.name, 200) +
                            " is ignored: the clusters of the command line have names of their "
                            "own");
        }
        for (const k8s_sd::DiscoveryConfig& server : servers_) {
            k8s_sd::DiscoveryConfig own = config;
            cli::set_server(own, server);
            // The file may choose the label, and name its server unless there are several.
            const bool has_label = own.cluster.label != k8s_sd::ClusterName{}.label;
            if (!has_label) own.cluster.label = server.cluster.label;
            if (own.cluster.name.empty() || options_.clusters.several())
                own.cluster.name = server.cluster.name;
            all.push_back(std::move(own));
        }
    }
    configs = std::move(all);
    return any_without;
}

void Program::start() {
    if (!options_.one_question) {
        out_ << "listens at " << http::url_of(*server_);
        out_.end_line();
    }
    signals_.wait([this](int signal) {
        if (signal != SIGHUP) return stop(signal == SIGINT ? "SIGINT" : "SIGTERM");
        reload_on_signal();
    });
    allocator_.start(options_.server);
    allocation_count_->start();
    guard_.start();
    jobs_.set_why_no_monitor([this](std::string_view job) { return monitors_.why_missing(job); });
    if (options_.clusters.profiles) {
        profiles_.start(
            cli::inventory_of(options_.server, options_.profiles), options_.clusters.label,
            {options_.serve.warm_start, file_worker(), options_.serve.clock,
             warning_writer(Event::snapshot)},
            [this](const auto& diff, const auto& problems) { on_clusters(diff, problems); });
    } else {
        monitors_.start(servers_.front(),
                        [this](const k8s_sd::MonitorDiff& diff) { on_monitors(diff); });
    }
    follow_config();
    if (cluster_ && !options_.one_question) cluster_->start_changes(std::chrono::seconds(1));
}

/// The configuration of a program without a file.
k8s_sd::ScrapeConfigFile Program::fixed_config() const {
    if (!options_.single_job && options_.monitors.enabled) {
        return k8s_sd::parse_scrape_configs("scrape_configs: []", scrape_config_options(options_),
                                            "built-in");
    }
    if (!options_.single_job) {
        return k8s_sd::parse_scrape_configs(built_in_config, scrape_config_options(options_),
                                            "built-in");
    }
    k8s_sd::ScrapeJob job;
    job.scrape.job_name = options_.job_name.empty()
                              ? std::string(to_string(options_.discovery.role))
                              : options_.job_name;
    job.scrape.dialect = options_.dialect;
    job.scrape.prometheus_version = options_.prometheus_version;
    job.discovery.name = job.scrape.job_name;
    job.discovery.configs = {options_.discovery};
    k8s_sd::ScrapeConfigFile file;
    file.jobs.push_back(std::move(job));
    return file;
}

void Program::follow_config() {
    if (options_.config_file.empty()) return use(fixed_config());
    reloader_.emplace(strand_, options_.config_file, scrape_config_options(options_),
                      options_.check_interval,
                      [this](const k8s_sd::ScrapeConfigUpdate& update) { on_update(update); });
    if (files_) reloader_->expect_jobs(files_->jobs_of_before());
    reloader_->start();
}

void Program::on_update(const k8s_sd::ScrapeConfigUpdate& update) {
    // Requests are answered after a second check has confirmed the removals.
    if (!update.config && !update.removed.empty()) return stay(*update.error);
    try {
        if (!update.config) throw *update.error;
        check_lists_jobs(*update.config, options_.config_file);
        // After a mistake in a job, keep the previous configuration and its targets.
        const auto& failures = update.config->failures;
        if (configured_ && !failures.empty()) throw k8s_sd::ScrapeConfigError(failures);
        use(*update.config, update.removed);
        answer_reloads(http::text_reply(200, "ok\n"), update.checks);
    } catch (const k8s_sd::ConfigError& e) {
        refuse(e, update.checks);
    }
}

void Program::warn(Event event, const std::string& text) const {
    log_.write(k8s_sd::LogLevel::warning, event, text);
}

std::function<void(const std::string&)> Program::warning_writer(Event event) const {
    return log_.writer(k8s_sd::LogLevel::warning, event);
}

void Program::refuse(const k8s_sd::ConfigError& error, std::uint64_t checks) {
    if (!configured_) throw cli::Unusable(error.what());
    stay(error);
    answer_reloads(http::text_reply(500, trouble_), checks);
}

void Program::stay(const k8s_sd::ConfigError& error) {
    const auto text = std::string("the previous configuration stays in use: ") + error.what();
    log_.write(k8s_sd::LogLevel::warning, Event::config_refused, text);
    trouble_ = text + "\n";
}

/// Logs each note once, not each time the file is read.
void Program::report_notes(const k8s_sd::ScrapeConfigFile& file, std::vector<std::string> more) {
    std::set<std::string> notes;
    std::vector<std::string> all = notes_of(file);
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
    if (!options_.record.file.empty() && has_several_servers(file)) {
        all.push_back("--record: the jobs are of several API servers, and a replay confuses their "
                      "responses; start one k8s-sd for the jobs of each server");
    }
    for (std::string& note : all) {
        if (!notes_.contains(note)) warn(Event::config_note, note);
        notes.insert(std::move(note));
    }
    notes_.swap(notes);
}

void Program::take(k8s_sd::ScrapeConfigFile file) {
    unusable_ = {};
    std::vector<std::string> notes;
    for (k8s_sd::ScrapeJob& job : file.jobs) {
        if (add_servers(job.discovery.configs, notes) && options_.clusters.profiles)
            unusable_.jobs.insert(job.scrape.job_name);
    }
    unusable_.problems = profiles_.unusable();
    if (!profiles_.known()) unusable_.why_unknown = [this] { return profiles_.why_unknown(); };
    unusable_.hub_is_empty = profiles_.known() && servers_.empty() && unusable_.problems.empty();
    report_notes(file, std::move(notes));
    file_ = std::move(file);
}

void Program::use(k8s_sd::ScrapeConfigFile file, const std::vector<std::string>& removed) {
    if (options_.clusters.profiles) read_ = file;
    take(std::move(file));
    trouble_.clear();
    apply();
    log_changes(removed);
    const std::string left_out = jobs_.left_out().lines();
    if (!left_out.empty()) warn(Event::jobs_left_out, left_out);
    // Serve only once the jobs are known; otherwise existing jobs would be reported as missing.
    if (std::exchange(configured_, true)) return;
    server_->start();
    service_manager_.ready(status_line());
}

std::string Program::status_line() const {
    return "serves " + cli::counted(jobs_.count(), "job") + " at " + http::url_of(*server_) +
           (trouble_.empty() ? "" : "; the last change of the configuration is refused");
}

void Program::log_changes(const std::vector<std::string>& removed) {
    const JobChanges& changes = jobs_.changes();
    const std::size_t jobs = jobs_.count();
    log_.write(k8s_sd::LogLevel::info, Event::config_applied,
               "applied: " + cli::counted(jobs, "job") +
                   (configured_ ? part(changes.added, "added") : "") +
                   part(changes.changed, "changed") +
                   part(configured_ ? changes.removed : removed, "removed"),
               {{"jobs", jobs}});
}

/// Configurations that stay equal keep their watches and targets. Cluster managers change
/// properties all the time: without a change of access there is nothing to apply.
void Program::on_clusters(const k8s_sd::InventoryDiff& diff,
                          const std::vector<std::string>& problems) {
    for (const std::string& problem : problems) warn(Event::cluster_unusable, problem);
    std::vector<k8s_sd::DiscoveryConfig> servers = profiles_.servers();
    if (configured_ && !unusable_.why_unknown && servers == servers_ &&
        profiles_.unusable() == unusable_.problems)
        return;
    std::vector<std::string> updated, removed;
    for (const k8s_sd::InventoryCluster& cluster : diff.updated)
        updated.push_back(cli::printable(cli::name_of(cluster), 200));
    for (const k8s_sd::InventoryCluster& cluster : diff.removed)
        removed.push_back(cli::printable(cli::name_of(cluster), 200));
    log_.write(
        k8s_sd::LogLevel::info, Event::clusters_changed,
        "ClusterProfiles: " + cli::counted(servers.size(), "usable cluster") +
            part(updated, "new or changed") + part(removed, "removed"),
        {{"clusters", servers.size() + profiles_.unusable().size()}, {"usable", servers.size()}});
    // First those that go: else their targets would wait for the lists of new ones.
    std::vector<k8s_sd::DiscoveryConfig> remaining = servers_;
    std::erase_if(remaining, [&](const k8s_sd::DiscoveryConfig& server) {
        return std::none_of(servers.begin(), servers.end(), [&](const auto& now) {
            return now.cluster.name == server.cluster.name;
        });
    });
    if (remaining.size() < servers_.size() && remaining != servers)
        use_servers(std::move(remaining), true);
    use_servers(std::move(servers), false);
}

/// Before the first configuration there is nothing to apply.
/// \param more_follow  whether no job may become complete without the next ones
void Program::use_servers(std::vector<k8s_sd::DiscoveryConfig> servers, bool more_follow) {
    servers_ = std::move(servers);
    if (!configured_) return;
    take(read_);
    if (more_follow)
        unusable_.why_unknown = [] { return std::string("the clusters of the hub change"); };
    apply();
    log_job_changes();
}

std::vector<k8s_sd::ServerHealth> Program::servers() const {
    std::vector<k8s_sd::ServerHealth> servers = jobs_.servers();
    for (k8s_sd::ServerHealth& server : profiles_.unusable_servers())
        servers.push_back(std::move(server));
    return servers;
}

/// The jobs of monitors have changed. Before the first configuration there is nothing to apply.
void Program::on_monitors(const k8s_sd::MonitorDiff& diff) {
    if (!configured_) return;
    if (diff.full) {
        apply();
    } else {
        log_more(jobs_.change(diff));
        follow_jobs_later();
    }
    log_job_changes();
}

void Program::log_job_changes() {
    const JobChanges& changes = jobs_.changes();
    if (changes.added.empty() && changes.changed.empty() && changes.removed.empty()) return;
    log_changes({});
}

/// What has all jobs in it is made anew for many changes together.
void Program::follow_jobs_later() {
    constexpr std::chrono::milliseconds pause{50};
    if (!files_ && !allocator_.options().enabled()) return;
    if (std::exchange(follows_jobs_later_, true)) return;
    follow_timer_->expires_at(options_.serve.clock->now() + pause, [this] {
        follows_jobs_later_ = false;
        if (ended_) return;
        log_more(allocator_.apply(file_, monitors_.jobs()));
        if (files_) files_->follow(jobs_);
    });
}

/// Logs each problem once, not with each change of a monitor.
void Program::log_new(const std::vector<std::string>& problems) {
    std::set<std::string> now(problems.begin(), problems.end());
    for (const std::string& problem : now) {
        if (!problems_.contains(problem)) warn(Event::job_problem, problem);
    }
    problems_.swap(now);
}

/// The same for problems of some jobs. Whoever changes monitors may cause any number.
void Program::log_more(const std::vector<std::string>& problems) {
    constexpr std::size_t max_problems = 10'000;
    if (problems_.size() > max_problems) problems_.clear();
    for (const std::string& problem : problems) {
        if (problems_.insert(problem).second) warn(Event::job_problem, problem);
    }
}

/// Applies the file and the monitors.
void Program::apply() {
    std::optional<k8s_sd::ScrapeConfigFile> without_monitors;
    if (!monitors_.known()) {
        // Any missing job may be one of a monitor, so none is reported as removed.
        without_monitors = file_;
        without_monitors->failures.push_back({{}, "--monitors", monitors_.why_unknown()});
    }
    const k8s_sd::ScrapeConfigFile& file = without_monitors ? *without_monitors : file_;
    const std::vector<k8s_sd::MonitorJobPtr> monitors = monitors_.jobs();
    std::vector<std::string> problems = jobs_.apply(file, monitors, unusable_);
    // Other jobs continue, but without the only job of the command line there is nothing to serve.
    const bool is_only_job = options_.single_job && !options_.clusters.profiles;
    if (is_only_job && !problems.empty()) throw cli::Unusable(problems.front());
    for (std::string& problem : allocator_.apply(file, monitors)) {
        problems.push_back(std::move(problem));
    }
    log_new(problems);
    if (files_) files_->follow(jobs_);
}

RouteEvents Program::route_events() {
    return {.metrics =
                [this] {
                    auto& context = asio::query(executor_, asio::execution::context);
                    return k8s_sd::to_prometheus_text(*k8s_sd::metrics_of(context)) +
                           k8s_sd::to_prometheus_text(servers()) + profiles_.metrics() +
                           to_text(guard_.metrics(*server_)) + monitors_.metrics() +
                           to_text(ConfigMetrics{.last_reload_successful = trouble_.empty()}) +
                           (allocation_count_->last() ? to_text(*allocation_count_->last()) : "");
                },
            .trouble =
                [this] {
                    return trouble_ + guard_.trouble() + (files_ ? files_->problems() : "") +
                           monitors_.trouble() + profiles_.trouble();
                },
            .servers = [this] { return servers(); },
            .idle_monitors = [this] { return idle_monitors_.lines(jobs_); },
            .monitors = [this](const MonitorPage& page) { return monitors_.json(page); },
            .reload = [this](const auto&, const HttpServer::Respond& respond) { reload(respond); },
            .executor = strand_,
            .page_directory = options_.page_directory,
            .slow = slow_,
            .ready_with_left_out_jobs = options_.ready_with_left_out_jobs};
}

void Program::reload(const HttpServer::Respond& respond) {
    if (!reloader_) return respond(http::text_reply(400, "there is no file to read again\n"));
    reloads_.emplace(reloader_->check(), respond);
}

/// Answers the requests made before the check in question; it may have missed later changes of the
/// file.
void Program::answer_reloads(const HttpServer::Reply& reply, std::uint64_t checks) {
    while (!reloads_.empty() && reloads_.begin()->first <= checks) {
        reloads_.extract(reloads_.begin()).mapped()(reply);
    }
}

void Program::reload_on_signal() {
    service_manager_.reloading();
    guard_.refresh();
    const auto done = [this](const HttpServer::Reply&) { service_manager_.ready(status_line()); };
    if (!reloader_) return done({});
    reloads_.emplace(reloader_->check(), done);
}

// Cancels all work, so that io_context::run() returns by itself. A second signal ends the program
// at once.
void Program::stop(const std::string& why) {
    ended_ = true;
    log_.write(k8s_sd::LogLevel::info, Event::end, "ends: " + why, {{"signal", why}});
    signals_.cancel();
    guard_.stop();
    if (reloader_) reloader_->cancel();
    answer_reloads(http::text_reply(503, "the program is ending\n"),
                   std::numeric_limits<std::uint64_t>::max());
    monitors_.stop();
    profiles_.stop();
    follow_timer_->cancel();
    service_manager_.stopping();
    jobs_.stop();
    allocation_count_->stop();
    slow_->stop();
    allocator_.stop();
    if (cluster_) cluster_->stop();
    server_->stop();
}

}  // namespace k8s_sd_program
