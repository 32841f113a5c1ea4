// A small scraper: follows a configuration file, discovers its targets and scrapes them, on one
// io_context with one or several threads. See docs/programs/scraper.md.

#include "cli/line_writer.hpp"
#include "cli/process_variables.hpp"
#include "cli/server_options.hpp"
#include "cli/signals.hpp"
#include "cli/threads.hpp"
#include "cli/warm_options.hpp"
#include "http/member.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "options.hpp"
#include "scrape_jobs.hpp"
#include "scraped_pods.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace scraper {
namespace {

namespace asio = boost::asio;

constexpr const char* built_in_config = R"yaml(
scrape_configs:
- job_name: pods
  scrape_interval: 1s
  scrape_timeout: 500ms
  kubernetes_sd_configs:
  - role: pod
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_annotation_prometheus_io_scrape]
    regex: "true"
    action: keep
  - source_labels: [__meta_kubernetes_pod_phase]
    regex: Succeeded|Failed
    action: drop
  - action: labelmap
    regex: __meta_kubernetes_pod_label_(.+)
  - source_labels: [__meta_kubernetes_namespace]
    target_label: namespace
  - source_labels: [__meta_kubernetes_namespace, __meta_kubernetes_pod_annotation_metrics_token]
    separator: /
    regex: .+/.+/.+
    target_label: __token_secret__
    replacement: $0
  - source_labels: [__meta_kubernetes_pod_name]
    target_label: pod
)yaml";

constexpr std::chrono::seconds explain_timeout{10};

/// Everything except the jobs runs on one strand.
class Program {
 public:
    Program(asio::io_context& io, Options options)
        : options_(std::move(options)),
          strand_(asio::make_strand(io)),
          signals_(strand_),
          report_timer_(strand_),
          ready_timer_(strand_),
          end_timer_(strand_),
          jobs_(strand_, io.get_executor(), options_, first_share(options_.fleet),
                {[this](std::string line) { print(std::move(line)); },
                 [this] { asio::post(strand_, [this] { count_scrape(); }); }}) {
        asio::post(strand_, [this] { start(); });
        if (options_.sim) {
            pods_ = std::make_shared<ScrapedPods>(strand_);
            options_.server.api_server.url = pods_->url();
        } else if (cli::names_server(options_.server)) {
            cli::usable_server(options_.server);
        }
        cli::make_snapshot_directory(options_.warm_start);
        read_config();
        member_.emplace(strand_, options_.fleet, options_.server, options_.warm_start,
                        [this](const k8s_sd::FleetShare& share) {
                            jobs_.share(share);
                            print(member_->in_words());
                        });
    }

    cli::ExitStatus exit_status() const noexcept { return exit_status_; }

 private:
    /// In a fleet this member owns nothing until the members are known.
    static k8s_sd::FleetShare first_share(const cli::FleetOptions& fleet) {
        return fleet.is_fleet() ? k8s_sd::FleetShare(nullptr, {}) : k8s_sd::FleetShare();
    }

    void start() {
        if (const std::string url = member_->url(); !url.empty()) print("listens at " + url);
        member_->start();
        become_ready_later();
        follow_config();
        if (pods_) pods_->start_changes(std::chrono::milliseconds(700));
        wait_for_signals();
        if (options_.explain) {
            explain_when_complete();
        } else if (options_.report_interval.count() > 0) {
            report_later();
        }
        if (options_.explain && !options_.duration) options_.duration = explain_timeout;
        if (options_.duration) {
            end_timer_.expires_after(*options_.duration);
            end_timer_.async_wait([this](boost::system::error_code ec) {
                if (!ec) on_time_up();
            });
        }
    }

    /// May be called in any thread.
    void print(std::string line) {
        asio::post(strand_, [this, line = std::move(line)] {
            out_ << line;
            out_.end_line();
        });
    }

    k8s_sd::ScrapeConfigOptions config_options() const {
        return {.dialect = options_.dialect,
                .prometheus_version = options_.prometheus_version,
                .strict = options_.strict,
                .variables = cli::process_variables()};
    }

    // Reports errors in the initial configuration at once.
    void read_config() const {
        if (!options_.config_file.empty()) {
            k8s_sd::load_scrape_configs(options_.config_file, config_options());
        }
    }

    void follow_config() {
        if (options_.config_file.empty()) {
            return use(k8s_sd::parse_scrape_configs(built_in_config, config_options(), "built-in"));
        }
        reloader_.emplace(strand_, options_.config_file, config_options(), options_.check_interval,
                          [this](const k8s_sd::ScrapeConfigUpdate& update) {
                              if (!update.config) return stay(*update.error);
                              try {
                                  // A mistake in a job must not remove its targets.
                                  const auto& failures = update.config->failures;
                                  if (configured_ && !failures.empty()) {
                                      throw k8s_sd::ScrapeConfigError(failures);
                                  }
                                  use(*update.config);
                              } catch (const k8s_sd::ConfigError& e) {
                                  if (!configured_) throw cli::Unusable(e.what());
                                  stay(e);
                              }
                          });
        reloader_->start();
    }

    static void stay(const k8s_sd::ConfigError& error) {
        std::cerr << "scraper: the previous configuration stays in use: " << error.what()
                  << std::endl;
    }

    void use(k8s_sd::ScrapeConfigFile file) {
        for (const k8s_sd::ConfigNote& note : file.notes) {
            std::cerr << "scraper: " << note.where << ": " << note.text << std::endl;
        }
        for (const k8s_sd::ScrapeConfigFailure& failure : file.failures) {
            std::cerr << "scraper: left out: " << failure.where << ": " << failure.message
                      << std::endl;
        }
        for (k8s_sd::ScrapeJob& job : file.jobs) {
            job.discovery.configs.edit_each([&](k8s_sd::DiscoveryConfig& config) {
                const bool named =
                    !config.api_server.url.empty() || !config.kubeconfig_file.empty();
                if (!named && cli::names_server(options_.server)) {
                    cli::set_server(config, options_.server);
                }
                cli::adapt(config, options_.fleet);
            });
        }
        configured_ = true;
        jobs_.apply(file);
    }

    void wait_for_signals() {
        signals_.wait([this](int signal) {
            if (signal == SIGHUP) {
                if (reloader_) reloader_->check();
            } else if (member_->drains([this] { stop(); })) {
                print(member_->in_words());
            } else {
                stop();
            }
        });
    }

    void report_later() {
        report_timer_.expires_after(options_.report_interval);
        report_timer_.async_wait([this](boost::system::error_code) {
            if (stopped_) return;
            jobs_.report([] {});
            report_later();
        });
    }

    void become_ready_later() {
        ready_timer_.expires_after(std::chrono::milliseconds(50));
        ready_timer_.async_wait([this](boost::system::error_code) {
            if (stopped_) return;
            if (!configured_ || !jobs_.complete(member_->status())) return become_ready_later();
            member_->set_synced();
        });
    }

    void explain_when_complete() {
        report_timer_.expires_after(std::chrono::milliseconds(20));
        report_timer_.async_wait([this](boost::system::error_code) {
            if (stopped_) return;
            const bool owns = !options_.fleet.is_fleet() || member_->share().view();
            if (!configured_ || !owns || !jobs_.complete(member_->status())) {
                return explain_when_complete();
            }
            jobs_.explain();
            stop();
        });
    }

    void on_time_up() {
        if (options_.explain) {
            std::cerr << "scraper: not everything has been listed in time" << std::endl;
            exit_status_ = cli::exit_failed;
            return jobs_.report([this] { stop(); });
        }
        stop();
    }

    void count_scrape() {
        if (options_.scrapes != 0 && ++scrapes_ == options_.scrapes) {
            jobs_.report([this] { stop(); });
        }
    }

    // Ends all pending operations, so io_context::run() returns by itself.
    void stop() {
        if (std::exchange(stopped_, true)) return;
        signals_.cancel();
        report_timer_.cancel();
        ready_timer_.cancel();
        member_->stop();
        end_timer_.cancel();
        if (reloader_) reloader_->cancel();
        // Must not run within the callback of a scrape.
        asio::post(strand_, [this] {
            jobs_.stop();
            pods_.reset();
        });
    }

    Options options_;
    asio::any_io_executor strand_;
    cli::LineWriter out_;
    cli::Signals signals_;
    asio::steady_timer report_timer_;
    asio::steady_timer ready_timer_;
    asio::steady_timer end_timer_;
    std::shared_ptr<ScrapedPods> pods_;
    ScrapeJobs jobs_;
    std::optional<http::Member> member_;
    std::optional<k8s_sd::ScrapeConfigReloader> reloader_;
    unsigned scrapes_ = 0;
    bool configured_ = false;
    bool stopped_ = false;
    cli::ExitStatus exit_status_ = cli::exit_fine;
};

cli::ExitStatus run(const Options& options) {
    check(options);
    asio::io_context io(static_cast<int>(options.threads));
    Program program(io, options);
    cli::run_threads(io, options.threads);
    return program.exit_status();
}

}  // namespace
}  // namespace scraper

int main(int argc, char** argv) {
    scraper::Options options;
    return cli::run_program(scraper::command_line(options), argc, argv,
                            [&] { return scraper::run(options); });
}
