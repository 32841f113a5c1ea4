#pragma once

#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The jobs of a host from a file, and the losses another file would cause. Immutable.
class KnownJobs {
 public:
    KnownJobs() = default;
    /// Jobs known by name only.
    explicit KnownJobs(const std::set<std::string>& names) {
        for (const std::string& name : names) jobs_.try_emplace(name);
    }
    /// The jobs of the host after it has received this file. The host may keep jobs left out
    /// because of errors.
    KnownJobs after(const ScrapeConfigFile& file) const {
        KnownJobs next;
        if (!file.failures.empty()) next = *this;
        for (const ScrapeJob& job : file.jobs) {
            next.jobs_.insert_or_assign(job.scrape.job_name, Known({job.scrape, job.discovery}));
        }
        for (const ScrapeConfigFailure& failure : file.failures) {
            if (!failure.job.empty()) next.jobs_.try_emplace(failure.job);
        }
        return next;
    }
    bool empty() const noexcept { return jobs_.empty(); }
    /// The jobs missing in the file, even as failed ones.
    std::vector<std::string> missing_in(const ScrapeConfigFile& file) const {
        std::set<std::string_view> names;
        for (const ScrapeJob& job : file.jobs) names.insert(job.scrape.job_name);
        for (const ScrapeConfigFailure& failure : file.failures) names.insert(failure.job);
        std::vector<std::string> missing;
        for (const auto& [name, known] : jobs_) {
            if (!names.contains(name)) missing.push_back(name);
        }
        return missing;
    }
    /// Whether a job of the file differs from its known version in discovery or relabelling.
    bool differ_in(const ScrapeConfigFile& file) const {
        return std::any_of(file.jobs.begin(), file.jobs.end(), [this](const ScrapeJob& job) {
            const auto it = jobs_.find(job.scrape.job_name);
            if (it == jobs_.end()) return false;
            const Known& known = it->second;
            return !known || known->first != job.scrape || known->second != job.discovery;
        });
    }

 private:
    using Known = std::optional<std::pair<ScrapeConfig, Job>>;
    std::map<std::string, Known, std::less<>> jobs_;
};

/// The result of one scan of a configuration's files.
struct ConfigScan {
    std::shared_ptr<const ConfigFiles> files;  ///< as found
    /// nullopt: unchanged.
    std::optional<ScrapeConfigUpdate> update;
    /// The host's jobs after the update; set with `update->config`.
    std::shared_ptr<const KnownJobs> jobs{};
    bool needs_confirmation = false;  ///< the update would take something from the host's jobs
};

/// The input of a scan, shared with the thread performing it.
struct ScanInput {
    std::string path;
    ScrapeConfigOptions options;
};

/// Reads the files unless they equal the known ones, and compares their jobs with those of the
/// host. Any thread. Does not throw.
ConfigScan scan_config(const ScanInput&, const std::shared_ptr<const ConfigFiles>& known,
                       const KnownJobs& jobs);

/// An update with an error of the whole file.
ScrapeConfigUpdate failed_config(const std::string& path, const std::string& problem);

/// Scans the files off the strand, one scan at a time. Used on the strand.
class ConfigScanner {
 public:
    /// \param parser  may be empty: threads of the environment read
    ConfigScanner(asio::any_io_executor strand, asio::any_io_executor parser, ScanInput);

    /// Begins a scan.
    /// \param on_scan   posted with the result, unless cancel() comes first; calls end()
    /// \param on_delay  called once the scan has taken 10 s
    void scan(std::shared_ptr<const ConfigFiles> known, std::shared_ptr<const KnownJobs> jobs,
              std::function<void(const ConfigScan&)> on_scan, std::function<void()> on_delay);
    void end();
    void cancel() noexcept;

    bool scanning() const noexcept { return scanning_; }
    /// Start of the current scan, or of the last one.
    TimePoint began() const noexcept { return began_; }
    const std::string& path() const noexcept { return input_->path; }

 private:
    void start(std::function<void()> call) const;

    const asio::any_io_executor strand_;
    const asio::any_io_executor parser_;
    const std::shared_ptr<Clock> clock_;
    const std::shared_ptr<FileCalls> file_calls_;
    const std::shared_ptr<const ScanInput> input_;
    std::unique_ptr<Timer> timeout_;  ///< of the current scan
    LateAnswers::PendingAnswer pending_;
    bool scanning_ = false;
    TimePoint began_{};
};

/// The calls of check(), and their answers.
class ScanRequests {
 public:
    /// Any thread. \returns the number of the call
    std::uint64_t ask() { return ++asked_; }

    // On the strand.
    void receive(std::uint64_t number) { received_ = std::max(received_, number); }
    void begin_scan() noexcept { of_scan_ = received_; }
    /// The calls received before the current scan.
    std::uint64_t of_scan() const noexcept { return of_scan_; }
    void answer(std::uint64_t number) noexcept { answered_ = number; }
    std::uint64_t answered() const noexcept { return answered_; }
    bool pending() const noexcept { return received_ > answered_; }

 private:
    std::atomic<std::uint64_t> asked_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t of_scan_ = 0;
    std::uint64_t answered_ = 0;
};

/// An update that would take something from the host waits here until a later scan has found the
/// same bytes. No I/O.
class ScanConfirmation {
 public:
    /// \param interval  between two scans; zero: only check() scans
    explicit ScanConfirmation(Duration interval) : interval_(interval) {}

    /// \param began   the start of the scan
    /// \param urgent  the host waits for the update
    void hold(ConfigScan scan, TimePoint began, bool urgent) {
        held_ = std::move(scan);
        due_ = began + delay(urgent);
    }
    /// The files of the update that waits; null: none waits.
    std::shared_ptr<const ConfigFiles> files() const { return held_ ? held_->files : nullptr; }
    bool pending() const noexcept { return held_.has_value(); }
    /// A scan started then, or later, confirms the update.
    TimePoint due() const noexcept { return due_; }
    /// Another scan has found the same bytes.
    /// \param began  the start of that scan
    /// \returns the confirmed update; nullopt: it began too early
    std::optional<ConfigScan> confirm(TimePoint began, bool urgent) {
        if (began >= due_) return std::exchange(held_, std::nullopt);
        due_ = std::min(due_, began + delay(urgent));
        return std::nullopt;
    }
    void reset() noexcept { held_.reset(); }

 private:
    Duration delay(bool urgent) const {
        if (interval_ <= Duration{}) return urgent_delay;
        return urgent ? std::min<Duration>(interval_, urgent_delay) : interval_;
    }

    static constexpr std::chrono::seconds urgent_delay{1};

    const Duration interval_;
    std::optional<ConfigScan> held_;
    TimePoint due_{};
};

}  // namespace k8s_sd::inline v0::detail
