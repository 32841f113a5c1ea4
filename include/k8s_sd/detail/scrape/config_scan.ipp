#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/scrape/config_scan.hpp"
#include "k8s_sd/detail/scrape/scrape_config_reader.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::chrono::seconds max_config_scan_time{10};

ScrapeConfigUpdate update_of(const ScanInput& input, ConfigFiles& files) {
    try {
        return {.config = read_scrape_configs(input.path, input.options, files)};
    } catch (const ScrapeConfigError& e) {
        return {.error = e};
    }
}
/// Adds the effects of the update on the host's jobs.
ConfigScan judged(ConfigScan scan, const KnownJobs& jobs, const std::string& path) {
    if (!scan.update->config) return scan;
    const ScrapeConfigFile& file = *scan.update->config;
    if (!file.lists_jobs && !jobs.empty()) {
        scan.update = failed_config(
            path,
            "lists no jobs, so it may be truncated; to remove all jobs, write scrape_configs: []");
        return scan;
    }
    scan.update->removed = jobs.missing_in(file);
    scan.needs_confirmation = !scan.update->removed.empty() || jobs.differ_in(file);
    scan.jobs = std::make_shared<const KnownJobs>(jobs.after(file));
    return scan;
}
}  // namespace

ScrapeConfigUpdate failed_config(const std::string& path, const std::string& problem) {
    return {.error = ScrapeConfigError({{"", path, problem}})};
}

ConfigScan scan_config(const ScanInput& input, const std::shared_ptr<const ConfigFiles>& known,
                       const KnownJobs& jobs) {
    try {
        if (known && !known->changed()) return {known, std::nullopt};
        const auto files = std::make_shared<ConfigFiles>(input.options.max_bytes);
        return judged({files, update_of(input, *files)}, jobs, input.path);
    } catch (const std::exception& e) {
        return {nullptr, failed_config(input.path, in_words(e))};
    } catch (...) {
        return {nullptr, failed_config(input.path, "unknown exception")};
    }
}

ConfigScanner::ConfigScanner(asio::any_io_executor strand, asio::any_io_executor parser,
                             ScanInput input)
    : strand_(std::move(strand)),
      parser_(std::move(parser)),
      clock_(ContextEnvironment::of(strand_).clock()),
      file_calls_(ContextEnvironment::of(strand_).file_calls()),
      input_(std::make_shared<const ScanInput>(std::move(input))) {}

void ConfigScanner::scan(std::shared_ptr<const ConfigFiles> known,
                         std::shared_ptr<const KnownJobs> jobs,
                         std::function<void(const ConfigScan&)> on_scan,
                         std::function<void()> on_delay) {
    scanning_ = true;
    began_ = clock_->now();
    timeout_ = clock_->make_timer(strand_);
    timeout_->expires_at(due_after(began_, max_config_scan_time), std::move(on_delay));
    pending_ = LateAnswers::async_ask<ConfigScan>(
        strand_, nullptr,
        [&](const std::function<void(ConfigScan)>& complete) {
            start([complete, input = input_, known, jobs] {
                complete(scan_config(*input, known, *jobs));
            });
        },
        [path = input_->path](const std::string& problem) {
            return ConfigScan{nullptr, failed_config(path, problem)};
        },
        std::move(on_scan));
}

void ConfigScanner::start(std::function<void()> call) const {
    if (parser_) return asio::post(parser_, std::move(call));
    if (!file_calls_->run(std::move(call))) {
        throw std::runtime_error("too many files are being read");
    }
}

void ConfigScanner::end() {
    scanning_ = false;
    timeout_.reset();
}

void ConfigScanner::cancel() noexcept {
    timeout_.reset();
    pending_.cancel();
}

}  // namespace k8s_sd::inline v0::detail
