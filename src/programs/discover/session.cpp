#include "session.hpp"

#include "cli/cluster_options.hpp"
#include "cli/server_options.hpp"
#include "cli/warm_options.hpp"
#include "k8s_sd/environment.hpp"
#include "notes.hpp"
#include "watch_lines.hpp"

#include <boost/asio/detached.hpp>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace discover {

using cli::Event;

namespace {

std::string in_seconds(k8s_sd::Duration duration) {
    std::ostringstream text;
    text << std::chrono::duration<double>(duration).count() << " s";
    return text.str();
}

bool is_text(const Options& options) { return options.log.format == cli::LogFormat::text; }

/// Whether this diff completes the job's first state from the API server.
bool is_complete(const k8s_sd::TargetGroupDiff& diff) {
    return (diff.full && !diff.unconfirmed) || diff.confirms;
}

/// A line for each watch without a complete list.
std::string unsynced_watches(const std::vector<k8s_sd::WatchStatus>& watches) {
    std::string lines;
    for (const k8s_sd::WatchStatus& watch : watches) {
        if (watch.synced) continue;
        lines += "  ";
        if (!watch.cluster.empty()) lines += cli::printable(watch.cluster) + ": ";
        lines.append(to_string(watch.kind));
        if (!watch.ns.empty()) lines += " in namespace " + watch.ns;
        if (watch.error) {
            lines += ": " + cli::printable(watch.message, 2000) + "\n";
        } else {
            lines +=
                ": still listing, " + std::to_string(watch.objects) + " objects so far (waits for ";
            lines.append(to_string(watch.waiting)).append(")\n");
        }
    }
    return lines;
}

/// The order of groups depends on addresses in memory, and is another one in each process.
k8s_sd::TargetGroupDiff sorted(k8s_sd::TargetGroupDiff diff) {
    std::sort(diff.updated.begin(), diff.updated.end(),
              [](const auto& a, const auto& b) { return a.group->source() < b.group->source(); });
    std::sort(diff.removed.begin(), diff.removed.end(),
              [](const auto& a, const auto& b) { return a->source() < b->source(); });
    return diff;
}

/// Whether the API server is another one, and not the same one with other credentials.
bool is_other_server(const k8s_sd::DiscoveryConfig& a, const k8s_sd::DiscoveryConfig& b) {
    const k8s_sd::TlsConfig& tls = a.api_server.tls;
    const k8s_sd::TlsConfig& other = b.api_server.tls;
    return a.api_server.url != b.api_server.url || tls.ca != other.ca ||
           tls.ca_file != other.ca_file;
}

/// The changes from these groups to other ones.
/// \param replaced  whether groups of equal names are those of other objects
k8s_sd::TargetGroupDiff changes(const k8s_sd::TargetGroups& from, const k8s_sd::TargetGroups& to,
                                bool replaced) {
    k8s_sd::TargetGroupDiff diff;
    to.for_each_group([&](const k8s_sd::TargetGroupPtr& group) {
        k8s_sd::TargetGroupPtr previous = from.find(group->source());
        if (previous && *previous == *group && !replaced) return;
        const bool replaces = previous && replaced;
        diff.updated.push_back(
            {.group = group, .previous = std::move(previous), .replaced = replaces});
    });
    from.for_each_group([&](const k8s_sd::TargetGroupPtr& group) {
        if (!to.find(group->source())) diff.removed.push_back(group);
    });
    return diff;
}

/// Whether only an action of the user can help. Requires two failures, since a retry may succeed in
/// another way: with a renewed token, or an older version of the API.
bool is_hopeless(const k8s_sd::WatchStatus& watch) {
    using enum k8s_sd::errc;
    if (watch.synced || watch.failures < 2) return false;
    // Something on the way may refuse one form of the request, and the watch tries other ones.
    constexpr unsigned forms = 5;
    const bool may_be_form = watch.error == bad_request || watch.error == forbidden;
    if (watch.foreign_response && may_be_form && watch.failures < forms) return false;
    // An untrusted certificate, or one for another name.
    if (std::string_view(watch.error.category().name()) == "asio.ssl") return true;
    for (const auto code :
         {unauthorized, forbidden, bad_request, not_found, unexpected_content_type}) {
        if (watch.error == code) return true;
    }
    // A file or a proxy may become available late, but hardly after so many failures.
    const bool may_be_late = watch.error == credentials_unavailable || watch.error == proxy_failed;
    return may_be_late && watch.failures >= 3;
}

}  // namespace

Session::Session(boost::asio::io_context& io, Options options, LineWriter& out, HubClusters* hub)
    : io_(io),
      options_(std::move(options)),
      hub_(hub),
      signals_(io.get_executor()),
      timeout_(io),
      status_timer_(io),
      hopeless_timer_(io),
      handover_timer_(io),
      errors_(STDERR_FILENO, options_.colours),
      log_("discover", options_.log) {
    options_.clusters.profiles = hub_ != nullptr;
    if (!hub_) install_environment();
    find_server();
    cli::adapt(options_.config, options_.fleet);
    if (options_.once) options_.config.watch.start_jitter = {};
    const std::string server = find_clusters();
    make_discoverers();
    join_fleet();
    reporter_ = make_reporter(out, options_, server);
    // The heading of the text format includes it.
    if (simulation_ && options_.output != Output::text) {
        comment(Event::simulation, "simulated cluster at " + server);
    }
}

void Session::install_environment() {
    k8s_sd::Environment environment;
    set_up_recording(environment);
    environment.logger = logger_of(options_);
    k8s_sd::install(io_, environment);
}

void Session::set_up_recording(k8s_sd::Environment& environment) {
    // The connector may outlive this object.
    cli::record(options_.record, environment, [options = options_](const std::string& text) {
        discover::note(options, k8s_sd::LogLevel::warning, Event::recording, text);
    });
    cli::prepare_to_record(options_.record, options_.config);
    if (options_.replay_file.empty()) return;
    k8s_sd::sim::Recording recording = cli::usable_recording(options_.replay_file);
    cli::prepare_to_replay(recording, options_.config);
    replay_end_ = std::min(recording.duration(), options_.until.value_or(k8s_sd::Duration::max()));
    options_.replay_clock = replay_clock_ = std::make_shared<k8s_sd::sim::ManualClock>();
    if (recording.end == k8s_sd::sim::RecordingEnd::cut) {
        note(k8s_sd::LogLevel::warning, Event::replay,
             "the recording is cut; it is replayed to there");
    }
    replay_ = std::make_shared<k8s_sd::sim::ReplayConnector>(std::move(recording), replay_clock_);
    environment.clock = replay_clock_;
    environment.connector = replay_;
    environment.seed = 1;
}

void Session::advance_at_speed(double speed) {
    using std::chrono::steady_clock;
    const steady_clock::time_point begin = steady_clock::now();
    // A signal ends the replay after a step.
    for (k8s_sd::Duration done{}; done < replay_end_ && !stopped_;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const std::chrono::duration<double, std::nano> passed = steady_clock::now() - begin;
        const double due =
            std::min(passed.count() * speed, static_cast<double>(replay_end_.count()));
        const k8s_sd::Duration step =
            std::chrono::nanoseconds(static_cast<std::int64_t>(due)) - done;
        replay_clock_->advance(io_, step);
        done += step;
    }
}

void Session::run_replay() {
    if (options_.speed) {
        advance_at_speed(*options_.speed);
    } else {
        replay_clock_->advance(io_, replay_end_);
    }
    if (const std::size_t unknown = replay_->unknown_requests(); unknown > 0 && !stopped_) {
        note(k8s_sd::LogLevel::warning, Event::replay,
             std::to_string(unknown) + " requests are not in the recording; are the options "
                                       "those of the recorded run?");
    }
    if (options_.once && !stopped_) {
        stop_unsynced("by the end of the recording");
    } else {
        stop(cli::exit_fine);
    }
    io_.restart();
}

void Session::note(k8s_sd::LogLevel level, Event event, const std::string& text) const {
    discover::note(options_, level, event, text);
}

void Session::comment(Event event, const std::string& text) {
    if (!is_text(options_)) return log_.write(k8s_sd::LogLevel::info, event, text);
    if (!reporter_->comment(text)) discover::comment(options_, text);
}

void Session::find_server() {
    if (options_.sim) {
        simulation_ = std::make_unique<cli::Cluster>(io_.get_executor());
        options_.config.api_server.url = simulation_->server().url;
    }
    if (replay_clock_) {
        // No credentials of the recorded run are needed.
        options_.config.kubeconfig_file.clear();
        options_.config.kubeconfig_context.clear();
        options_.config.api_server = {};
        options_.config.api_server.url = "http://recording";
    }
}

std::string Session::find_clusters() {
    const auto warn = [this](const std::string& why) {
        note(k8s_sd::LogLevel::warning, Event::context_note, why);
    };
    configs_ = hub_ ? usable_clusters() : cli::configs_of(options_.config, options_.clusters, warn);
    if (configs_.empty()) return without_clusters();
    std::string servers;
    for (k8s_sd::DiscoveryConfig& config : configs_) {
        const std::string url = cli::usable_server(config).url;
        if (!servers.empty()) servers += ", ";
        if (!config.cluster.name.empty()) servers += cli::printable(config.cluster.name) + " ";
        servers += url;
        if (options_.clusters.several()) options_.cluster_names.push_back(config.cluster.name);
    }
    if (options_.clusters.several()) options_.jobs = static_cast<unsigned>(configs_.size());
    options_.config = configs_.front();
    return servers;
}

std::vector<k8s_sd::DiscoveryConfig> Session::usable_clusters() {
    std::vector<k8s_sd::DiscoveryConfig> usable;
    const auto before = std::exchange(unusable_, {});
    for (k8s_sd::DiscoveryConfig config : hub_->configs()) {
        const std::string name = config.cluster.name;
        try {
            cli::usable_server(config);
            usable.push_back(std::move(config));
        } catch (const std::exception& e) {
            const std::string& why = unusable_[name] = cli::printable(e.what(), 2000);
            const auto known = before.find(name);
            if (known != before.end() && known->second == why) continue;
            note(k8s_sd::LogLevel::warning, Event::cluster_unusable,
                 "cluster " + cli::printable(name, 200) + ": " + why);
        }
    }
    return usable;
}

std::string Session::why_no_cluster() const {
    return "none of the " + std::to_string(hub_->size()) +
           " ClusterProfiles of the hub has a usable cluster";
}

/// There may be some later.
std::string Session::without_clusters() {
    const std::string why = why_no_cluster();
    if (options_.once) throw cli::Unusable("--cluster-profiles: " + why);
    note(k8s_sd::LogLevel::warning, Event::clusters_changed, why + " yet");
    options_.jobs = 0;
    return "no cluster yet";
}

void Session::make_discoverers() {
    cli::make_snapshot_directory(options_.warm_start);
    jobs_.resize(options_.jobs);
    for (unsigned job = 0; job < options_.jobs; ++job) {
        const std::size_t config = std::min<std::size_t>(job, configs_.size() - 1);
        discoverers_.push_back(discoverer_of(job, configs_[config]));
    }
    if (hub_ && !options_.once) hub_->follow([this] { on_clusters(); });
}

k8s_sd::Discoverer Session::discoverer_of(unsigned job, const k8s_sd::DiscoveryConfig& config) {
    return {io_.get_executor(), config,
            [this, job](const k8s_sd::TargetGroupDiff& diff) {
                const bool compares = replay_clock_ || !options_.record.file.empty();
                compares ? on_diff(job, sorted(diff)) : on_diff(job, diff);
            },
            options_.warm_start};
}

bool Session::all(bool JobState::*progress) const {
    return std::all_of(jobs_.begin(), jobs_.end(),
                       [&](const JobState& job) { return job.gone || job.*progress; });
}

std::optional<unsigned> Session::job_of(const std::string& cluster) const {
    for (unsigned job = 0; job < configs_.size(); ++job)
        if (configs_[job].cluster.name == cluster) return job;
    return std::nullopt;
}

void Session::on_clusters() {
    if (stopped_) return;
    if (progress_) progress_->stop();
    const std::vector<k8s_sd::DiscoveryConfig>& known = hub_->configs();
    for (unsigned job = 0; job < configs_.size(); ++job) {
        const bool is_there = std::any_of(known.begin(), known.end(), [&](const auto& config) {
            return config.cluster.name == configs_[job].cluster.name;
        });
        if (!is_there && !jobs_[job].gone) remove_cluster(job);
    }
    for (const k8s_sd::DiscoveryConfig& config : usable_clusters()) {
        const std::optional<unsigned> job = job_of(config.cluster.name);
        if (!job) {
            add_cluster(config);
        } else if (jobs_[*job].gone || configs_[*job] != config) {
            move_cluster(*job, config);
        }
    }
}

void Session::add_cluster(const k8s_sd::DiscoveryConfig& config) {
    const auto job = static_cast<unsigned>(discoverers_.size());
    discoverers_.push_back(discoverer_of(job, config));
    configs_.push_back(config);
    options_.cluster_names.push_back(config.cluster.name);
    jobs_.emplace_back();
    ++options_.jobs;
    comment(Event::clusters_changed, "cluster " + config.cluster.name + " is new");
    discoverers_.back()->async_run(boost::asio::detached);
}

/// A cluster that comes back keeps its job.
void Session::move_cluster(unsigned job, const k8s_sd::DiscoveryConfig& config) {
    discoverers_[job] = discoverer_of(job, config);
    JobState& state = jobs_[job];
    const bool is_back = std::exchange(state.gone, false);
    if (is_back) ++options_.jobs;
    if (state.delivered || state.groups.group_count() > 0) {
        const bool was_moving_away = state.move && state.move->other_server;
        state.move =
            Move{.other_server = was_moving_away || is_other_server(configs_[job], config)};
    }
    configs_[job] = config;
    comment(Event::clusters_changed, "cluster " + config.cluster.name +
                                         (is_back ? " is back" : " has another server or access"));
    if (state.move) {
        discoverers_[job]->set_status_callback(
            [this, job](const k8s_sd::DiscovererStatus& status) { on_move_status(job, status); });
    }
    discoverers_[job]->async_run(boost::asio::detached);
}

/// The targets of before stay as long as it takes, so they must not pass for those of the new
/// server.
void Session::on_move_status(unsigned job, const k8s_sd::DiscovererStatus& status) {
    std::optional<Move>& move = jobs_[job].move;
    // A list that works may bring objects that do not.
    if (stopped_ || !move || !status.error || status.synced) return;
    if (std::exchange(move->reported, true)) return;
    note(k8s_sd::LogLevel::warning, Event::cluster_unusable,
         "cluster " + cli::printable(configs_[job].cluster.name, 200) +
             ": its targets are those of before, until its new server or access works: " +
             cli::printable(status.message, 2000));
}

void Session::remove_cluster(unsigned job) {
    comment(Event::clusters_changed, "cluster " + configs_[job].cluster.name + " is gone");
    // Nothing but the name stays: neither credentials nor memory for each cluster there ever was.
    discoverers_[job].reset();
    k8s_sd::DiscoveryConfig gone;
    gone.cluster = configs_[job].cluster;
    configs_[job] = std::move(gone);
    k8s_sd::TargetGroupDiff diff;
    jobs_[job].groups.for_each_group(
        [&](const k8s_sd::TargetGroupPtr& group) { diff.removed.push_back(group); });
    jobs_[job] = {.gone = true};
    --options_.jobs;
    report(job, diff);
    if (!is_complete_ && options_.jobs > 0 && all(&JobState::delivered)) on_synced();
}

void Session::join_fleet() {
    member_ = std::make_unique<http::Member>(
        io_.get_executor(), options_.fleet, options_.config, options_.warm_start,
        [this](const k8s_sd::FleetShare& share) { on_share(share); });
    for (unsigned job = 0; options_.fleet.is_fleet() && job < options_.jobs; ++job) {
        shared_jobs_.push_back({k8s_sd::GroupShare(std::to_string(job))});
    }
}

cli::ExitStatus Session::run() {
    signals_.wait([this](int) {
        if (!member_->drains([this] { stop(cli::exit_fine); })) return stop(cli::exit_fine);
        comment(Event::fleet, member_->in_words());
    });
    if (options_.deadline) {
        timeout_.expires_at(*options_.deadline);
        timeout_.async_wait([this](boost::system::error_code ec) {
            if (!ec) on_timeout();
        });
    }
    for (auto& discoverer : discoverers_) discoverer->async_run(boost::asio::detached);
    if (const std::string url = member_->url(); !url.empty()) {
        note(k8s_sd::LogLevel::info, Event::listening, "listens at " + url);
    }
    member_->start();
    if (options_.status_interval) print_status_later();
    if (options_.once && !replay_clock_) end_if_hopeless_later();
    if (options_.output == Output::text && is_text(options_) && errors_.has_cursor() &&
        !replay_clock_ && !discoverers_.empty()) {
        progress_.emplace(io_.get_executor(), *discoverers_.front(), errors_);
    }
    if (replay_clock_) run_replay();
    io_.run();
    return status_;
}

void Session::on_diff(unsigned job, const k8s_sd::TargetGroupDiff& diff) {
    jobs_[job].synced = jobs_[job].synced || is_complete(diff);
    if (!member_->is_synced() && all(&JobState::synced)) member_->set_synced();
    if (hub_) return on_cluster_diff(job, diff);
    if (shared_jobs_.empty()) return report(job, diff);
    SharedJob& shared = shared_jobs_[job];
    shared.synced = true;
    shared.unconfirmed = (shared.unconfirmed || diff.unconfirmed) && !diff.confirms;
    const k8s_sd::TargetGroupDiff mine = shared.share.apply(diff);
    if (has_view_) report(job, mine);
}

void Session::on_cluster_diff(unsigned job, const k8s_sd::TargetGroupDiff& diff) {
    JobState& state = jobs_[job];
    if (!state.move) {
        state.groups.apply(diff);
        return report(job, diff);
    }
    // Those of a snapshot are no news for a cluster with targets.
    state.move->groups.apply(diff);
    if (!is_complete(diff)) return;
    k8s_sd::TargetGroupDiff news =
        changes(state.groups, state.move->groups, state.move->other_server);
    // The reported targets may be those of a snapshot.
    news.confirms = !state.delivered;
    state.groups = std::move(state.move->groups);
    state.move.reset();
    report(job, news);
}

/// The share before the first view is reported together with that view.
void Session::on_share(const k8s_sd::FleetShare& share) {
    if (stopped_) return;
    const bool is_first = !std::exchange(has_view_, true);
    comment(Event::fleet, member_->in_words());
    for (unsigned job = 0; job < shared_jobs_.size(); ++job) {
        SharedJob& shared = shared_jobs_[job];
        k8s_sd::TargetGroupDiff gained = shared.share.share(share, k8s_sd::system_clock()->now());
        gained.full = is_first && shared.synced;
        gained.unconfirmed = gained.full && shared.unconfirmed;
        report(job, gained);
    }
    finish_handovers_later();
}

void Session::finish_handovers_later() {
    std::optional<k8s_sd::TimePoint> next;
    for (const SharedJob& job : shared_jobs_) {
        const auto due = job.share.next_handover();
        if (due && (!next || *due < *next)) next = due;
    }
    if (!next) return;
    handover_timer_.expires_at(*next);
    handover_timer_.async_wait([this](boost::system::error_code ec) {
        if (ec || stopped_) return;
        for (unsigned job = 0; job < shared_jobs_.size(); ++job) {
            const auto now = k8s_sd::system_clock()->now();
            report(job, shared_jobs_[job].share.finish_handovers(now));
        }
        finish_handovers_later();
    });
}

void Session::report(unsigned job, const k8s_sd::TargetGroupDiff& diff) {
    if (stopped_ || diff.empty()) return;
    if (progress_) progress_->stop();
    reporter_->diff(job, diff);
    if (diff.unconfirmed)
        comment(Event::snapshot, "unconfirmed: " + discoverers_[job]->status().snapshot);
    if (diff.confirms) comment(Event::snapshot, "the API server has confirmed the targets");
    if (!is_complete(diff)) return;
    jobs_[job].delivered = true;
    if (!is_complete_ && all(&JobState::delivered)) on_synced();
}

void Session::on_synced() {
    is_complete_ = true;
    if (progress_) progress_->stop();
    reporter_->synced();
    if (options_.once) return stop(cli::exit_fine);
    if (!simulation_) return;
    simulation_->start_changes(std::chrono::seconds(1), [this](const std::string& what) {
        comment(Event::simulation, what);
    });
}

/// Without any cluster of a hub there is no complete state, unless there was one before.
void Session::on_timeout() {
    if (stopped_) return;
    const bool is_moving = std::any_of(jobs_.begin(), jobs_.end(),
                                       [](const JobState& job) { return job.move.has_value(); });
    if (is_complete_ && !is_moving && all(&JobState::delivered)) return stop(cli::exit_fine);
    stop_unsynced("after " + in_seconds(*options_.timeout));
}

std::vector<k8s_sd::WatchStatus> Session::watches() const {
    if (!options_.clusters.several()) return discoverers_.front()->status().watches;
    std::vector<k8s_sd::WatchStatus> all;
    for (const auto& discoverer : discoverers_) {
        if (!discoverer) continue;
        for (k8s_sd::WatchStatus& watch : discoverer->status().watches)
            all.push_back(std::move(watch));
    }
    return all;
}

void Session::end_if_hopeless_later() {
    hopeless_timer_.expires_after(std::chrono::milliseconds(100));
    hopeless_timer_.async_wait([this](boost::system::error_code ec) {
        if (ec || stopped_) return;
        const auto all = watches();
        if (std::any_of(all.begin(), all.end(), is_hopeless)) {
            return stop_unsynced("and waiting does not help");
        }
        end_if_hopeless_later();
    });
}

void Session::stop_unsynced(const std::string& why) {
    if (progress_) progress_->stop();
    const std::string fleet = shared_jobs_.empty() ? "" : "  fleet: " + member_->in_words() + "\n";
    const std::string head = "not synced " + why + ":";
    const std::string hub = options_.jobs == 0 ? "  " + why_no_cluster() + "\n" : "";
    const std::string details = unsynced_watches(watches()) + fleet + hub;
    if (is_text(options_)) {
        const auto line = cli::StyledLine().add("discover: " + head, cli::Tone::warning);
        std::cerr << errors_.whole(line) << '\n' << details;
    } else {
        log_.write(k8s_sd::LogLevel::error, Event::not_synced, head + "\n" + details);
    }
    stop(cli::exit_not_synced);
}

void Session::print_status_later() {
    status_timer_.expires_after(*options_.status_interval);
    status_timer_.async_wait([this](boost::system::error_code ec) {
        if (ec || stopped_) return;
        const k8s_sd::TimePoint now = k8s_sd::system_clock()->now();
        for (const k8s_sd::WatchStatus& watch : watches())
            note(k8s_sd::LogLevel::info, Event::watch_status,
                 cli::printable(watch_line(watch, now), 4000));
        print_status_later();
    });
}

void Session::stop(cli::ExitStatus status) {
    if (std::exchange(stopped_, true)) return;
    status_ = status;
    if (progress_) progress_->stop();
    signals_.cancel();
    timeout_.cancel();
    status_timer_.cancel();
    hopeless_timer_.cancel();
    handover_timer_.cancel();
    member_->stop();
    if (hub_) hub_->stop();
    for (auto& discoverer : discoverers_) {
        if (discoverer) discoverer->cancel();
    }
    simulation_.reset();
}

}  // namespace discover
