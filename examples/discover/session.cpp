#include "session.hpp"

#include "k8s_sd/environment.hpp"
#include "support/server_options.hpp"
#include "watch_lines.hpp"

#include <chrono>
#include <csignal>
#include <iostream>
#include <sstream>
#include <utility>

namespace discover {

namespace {

std::string in_seconds(k8s_sd::Duration duration) {
    std::ostringstream text;
    text << std::chrono::duration<double>(duration).count() << " s";
    return text.str();
}

void print_unsynced(const k8s_sd::DiscovererStatus& status) {
    for (const k8s_sd::WatchStatus& watch : status.watches) {
        if (watch.synced) continue;
        std::cerr << "  " << to_string(watch.kind)
                  << (watch.ns.empty() ? "" : " in namespace " + watch.ns) << ": ";
        if (watch.error) {
            std::cerr << watch.message << '\n';
        } else {
            std::cerr << "still listing, " << watch.objects << " objects so far (waits for "
                      << to_string(watch.waiting) << ")\n";
        }
    }
}

}  // namespace

Session::Session(boost::asio::io_context& io, Options options, LineWriter& out)
    : io_(io),
      options_(std::move(options)),
      signals_(io, SIGINT, SIGTERM),
      timeout_(io),
      status_timer_(io) {
    k8s_sd::Environment environment;
    environment.logger.level = options_.log_level;
    k8s_sd::install(io_, environment);
    find_server();
    const std::string server = support::usable_server(options_.config).url;
    make_discoverers();
    reporter_ = make_reporter(out, options_, server);
    // The heading for people says it, too.
    if (simulation_ && options_.output != Output::text) {
        reporter_->comment("simulated cluster at " + server);
    }
}

void Session::find_server() {
    if (options_.sim) {
        simulation_ = std::make_unique<support::Cluster>(io_.get_executor());
        options_.config.api_server.url = simulation_->server().url;
    }
}

void Session::make_discoverers() {
    for (unsigned job = 0; job < options_.jobs; ++job) {
        discoverers_.emplace_back(
            io_.get_executor(), options_.config,
            [this, job](const k8s_sd::TargetGroupDiff& diff) { on_diff(job, diff); });
    }
}

support::ExitStatus Session::run() {
    signals_.async_wait([this](boost::system::error_code ec, int) {
        if (!ec) stop(support::exit_fine);
    });
    if (options_.timeout) {
        timeout_.expires_after(*options_.timeout);
        timeout_.async_wait([this](boost::system::error_code ec) {
            if (!ec) on_timeout();
        });
    }
    for (k8s_sd::Discoverer& discoverer : discoverers_) {
        discoverer.async_run([](k8s_sd::error_code) {});
    }
    if (options_.status_interval) print_status_later();
    if (options_.output == Output::text && can_show_progress()) {
        progress_.emplace(io_.get_executor(), discoverers_.front());
    }
    io_.run();
    return status_;
}

void Session::on_diff(unsigned job, const k8s_sd::TargetGroupDiff& diff) {
    if (progress_) progress_->stop();
    reporter_->diff(job, diff);
    if (diff.full && ++synced_jobs_ == options_.jobs) on_synced();
}

void Session::on_synced() {
    reporter_->synced();
    if (options_.once) return stop(support::exit_fine);
    if (!simulation_) return;
    simulation_->start_changes(std::chrono::seconds(1),
                               [this](const std::string& what) { reporter_->comment(what); });
}

void Session::on_timeout() {
    if (stopped_) return;
    if (synced_jobs_ == options_.jobs) return stop(support::exit_fine);
    if (progress_) progress_->stop();
    std::cerr << "discover: not synced after " << in_seconds(*options_.timeout) << ":\n";
    print_unsynced(discoverers_.front().status());
    stop(support::exit_not_synced);
}

void Session::print_status_later() {
    status_timer_.expires_after(*options_.status_interval);
    status_timer_.async_wait([this](boost::system::error_code ec) {
        if (ec || stopped_) return;
        const k8s_sd::TimePoint now = k8s_sd::system_clock()->now();
        for (const k8s_sd::WatchStatus& watch : discoverers_.front().status().watches)
            std::cerr << "discover: " << watch_line(watch, now) << '\n';
        print_status_later();
    });
}

void Session::stop(support::ExitStatus status) {
    if (std::exchange(stopped_, true)) return;
    status_ = status;
    if (progress_) progress_->stop();
    signals_.cancel();
    timeout_.cancel();
    status_timer_.cancel();
    for (k8s_sd::Discoverer& discoverer : discoverers_) discoverer.cancel();
    simulation_.reset();
}

}  // namespace discover
