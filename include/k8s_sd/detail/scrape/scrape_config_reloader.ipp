#include "k8s_sd/detail/async/host_arguments.hpp"
#include "k8s_sd/detail/async/if_alive.hpp"
#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/base/due_time.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/scrape/scrape_config_reader.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {

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

}  // namespace detail

/// Confined to its strand, except where noted.
class ScrapeConfigReloader::Impl : public std::enable_shared_from_this<Impl> {
 public:
    Impl(const asio::any_io_executor& executor, std::string path, ScrapeConfigOptions options,
         Duration interval, Callback callback, const asio::any_io_executor& parser)
        : strand_(asio::make_strand(executor)),
          parser_(parser),
          clock_(detail::ContextEnvironment::of(strand_).clock()),
          file_calls_(detail::ContextEnvironment::of(strand_).file_calls()),
          input_{std::make_shared<const ScanInput>(ScanInput{std::move(path), std::move(options)})},
          interval_(interval),
          callback_(std::move(callback)) {}

    // Any thread.
    void expect_jobs(std::set<std::string> names) {
        asio::post(strand_, [self = shared_from_this(), names = std::move(names)] {
            self->jobs_ = std::make_shared<const detail::KnownJobs>(names);
        });
    }
    // Any thread.
    void start() {
        asio::post(strand_, [self = shared_from_this()] {
            if (self->timer_ || self->cancelled_) return;
            self->timer_ = self->clock_->make_timer(self->strand_);
            self->scan_timeout_ = self->clock_->make_timer(self->strand_);
            self->confirmation_timer_ = self->clock_->make_timer(self->strand_);
            self->scan_later();
            self->scan();
        });
    }
    // Any thread.
    std::uint64_t check() {
        const std::uint64_t number = ++asked_;
        asio::post(strand_, [self = shared_from_this(), number] {
            self->checks_ = std::max(self->checks_, number);
            if (!self->timer_) return;
            self->known_.reset();
            self->failure_.clear();
            self->scan_again_ = self->scanning_;
            self->scan();
        });
        return number;
    }
    // Any thread.
    void cancel() noexcept {
        if (cancelled_.exchange(true)) return;
        asio::post(strand_, [self = shared_from_this()] {
            self->timer_.reset();
            self->scan_timeout_.reset();
            self->confirmation_timer_.reset();
            self->pending_scan_.cancel();
        });
    }

 private:
    using Files = std::shared_ptr<const detail::ConfigFiles>;
    using Scan = detail::ConfigScan;

    /// The input of a scan, shared with the thread performing it.
    struct ScanInput {
        std::string path;
        ScrapeConfigOptions options;
    };

    void scan_later() {
        if (interval_ <= Duration{}) return;
        timer_->expires_at(detail::due_after(clock_->now(), interval_), [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (!self || self->cancelled_) return;
            self->scan_later();
            self->scan();
        });
    }

    void scan() {
        if (cancelled_ || scanning_) return;
        scanning_ = true;
        checks_of_scan_ = checks_;
        scan_began_ = clock_->now();
        scan_timeout_->expires_at(detail::due_after(clock_->now(), max_scan_time),
                                  detail::if_alive(weak_from_this(), &Impl::report_long_scan));
        pending_scan_ = detail::LateAnswers::async_ask<Scan>(
            strand_, nullptr,
            [this](const std::function<void(Scan)>& complete) {
                start_scan([complete, input = input_,
                            known = unconfirmed_ ? unconfirmed_->files : known_,
                            jobs = jobs_] { complete(scan_file(*input, known, *jobs)); });
            },
            [path = input_->path](const std::string& problem) {
                return Scan{nullptr, failed(path, problem)};
            },
            detail::if_alive(weak_from_this(), &Impl::take));
    }

    void start_scan(std::function<void()> call) const {
        if (parser_) return asio::post(parser_, std::move(call));
        if (!file_calls_->run(std::move(call))) {
            throw std::runtime_error("too many files are being read");
        }
    }

    void take(const Scan& scan) {
        scanning_ = false;
        if (cancelled_) return;
        scan_timeout_->cancel();
        if (unconfirmed_ && !scan.update) return take_same_bytes();
        unconfirmed_.reset();
        confirmation_timer_->cancel();
        // Unchanged files must be reported once in any case, so they have to be read.
        const bool undelivered = !scan.update && !known_;
        const bool again = std::exchange(scan_again_, false);
        const std::string failure = scan.files ? "" : scan.update->error->what();
        const bool repeated = !failure.empty() && failure == failure_;
        // check() was called meanwhile: report the next result in any case.
        if (scan.update && !again) known_ = scan.files;
        failure_ = again ? "" : failure;
        const std::uint64_t checks = checks_of_scan_;
        std::optional<ScrapeConfigUpdate> update = scan.update;
        if (scan.needs_confirmation) {
            update = hold_back(scan);
        } else if (scan.jobs) {
            jobs_ = scan.jobs;
        }
        // Start it first, because the callback may throw or cancel.
        if (again || undelivered) this->scan();
        if (!repeated) deliver(std::move(update), checks);
    }

    /// \returns the update to report meanwhile
    std::optional<ScrapeConfigUpdate> hold_back(const Scan& scan) {
        unconfirmed_ = scan;
        confirmed_from_ = scan_began_ + until_confirmation();
        wait_for_confirmation();
        if (scan.update->removed.empty()) return std::nullopt;
        return unconfirmed_removals(*scan.update);
    }

    /// Shortens the delay for a pending check().
    Duration until_confirmation() const {
        if (interval_ <= Duration{}) return confirmation_delay_when_asked;
        const bool asked = checks_ > checks_answered_ || !delivered_;
        return asked ? std::min<Duration>(interval_, confirmation_delay_when_asked) : interval_;
    }

    void wait_for_confirmation() {
        confirmation_timer_->expires_at(confirmed_from_, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && !self->cancelled_) self->scan();
        });
    }

    /// A second scan has found the same bytes as the first one.
    void take_same_bytes() {
        const bool again = std::exchange(scan_again_, false);
        if (scan_began_ < confirmed_from_) {
            confirmed_from_ = std::min(confirmed_from_, scan_began_ + until_confirmation());
            return wait_for_confirmation();
        }
        const Scan confirmed = *std::exchange(unconfirmed_, std::nullopt);
        confirmation_timer_->cancel();
        known_ = again ? nullptr : confirmed.files;
        jobs_ = confirmed.jobs;
        const std::uint64_t checks = checks_of_scan_;
        if (again) scan();
        deliver(confirmed.update, checks);
    }

    ScrapeConfigUpdate unconfirmed_removals(const ScrapeConfigUpdate& update) const {
        std::vector<ScrapeConfigFailure> failures = update.config->failures;
        for (const std::string& name : update.removed) {
            failures.push_back({name, input_->path,
                                "job " + detail::printable(name) +
                                    " is missing; it is removed when a second read of the file "
                                    "finds the same"});
        }
        return {.error = ScrapeConfigError(std::move(failures)), .removed = update.removed};
    }

    void report_long_scan() {
        if (cancelled_) return;
        // Report the final result even if the files are unchanged.
        known_.reset();
        deliver(failed(input_->path, "has not been read in 10 s; it is still being waited for"),
                checks_of_scan_);
    }

    void deliver(std::optional<ScrapeConfigUpdate> update, std::uint64_t checks) {
        if (!update) return;
        const auto self = shared_from_this();
        const bool waits = !update->config && !update->removed.empty();
        update->checks = waits ? checks_answered_ : checks;
        checks_answered_ = update->checks;
        delivered_ = delivered_ || update->config;
        callback_(*update);
    }

    // Any thread, without this object. Does not throw.
    static Scan scan_file(const ScanInput& input, const Files& known,
                          const detail::KnownJobs& jobs) {
        try {
            if (known && !known->changed()) return {known, std::nullopt};
            const auto files = std::make_shared<detail::ConfigFiles>(input.options.max_bytes);
            return judged({files, update_of(input, *files)}, jobs, input.path);
        } catch (const std::exception& e) {
            return {nullptr, failed(input.path, in_words(e))};
        } catch (...) {
            return {nullptr, failed(input.path, "unknown exception")};
        }
    }
    static ScrapeConfigUpdate update_of(const ScanInput& input, detail::ConfigFiles& files) {
        try {
            return {.config = detail::read_scrape_configs(input.path, input.options, files)};
        } catch (const ScrapeConfigError& e) {
            return {.error = e};
        }
    }
    /// Adds the effects of the update on the host's jobs.
    static Scan judged(Scan scan, const detail::KnownJobs& jobs, const std::string& path) {
        if (!scan.update->config) return scan;
        const ScrapeConfigFile& file = *scan.update->config;
        if (!file.lists_jobs && !jobs.empty()) {
            scan.update = failed(path, "lists no jobs, so it may be cut; if there are to be none, "
                                       "write scrape_configs: []");
            return scan;
        }
        scan.update->removed = jobs.missing_in(file);
        scan.needs_confirmation = !scan.update->removed.empty() || jobs.differ_in(file);
        scan.jobs = std::make_shared<const detail::KnownJobs>(jobs.after(file));
        return scan;
    }
    static ScrapeConfigUpdate failed(const std::string& path, const std::string& problem) {
        return {.error = ScrapeConfigError({{"", path, problem}})};
    }

    static constexpr std::chrono::seconds max_scan_time{10};
    static constexpr std::chrono::seconds confirmation_delay_when_asked{1};

    asio::strand<asio::any_io_executor> strand_;
    asio::any_io_executor parser_;  // may be empty
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<FileCalls> file_calls_;
    std::shared_ptr<const ScanInput> input_;
    Duration interval_;
    Callback callback_;
    std::atomic<bool> cancelled_ = false;
    std::unique_ptr<Timer> timer_;               // null: not started, or cancelled
    std::unique_ptr<Timer> scan_timeout_;        // the same
    std::unique_ptr<Timer> confirmation_timer_;  // the same
    detail::LateAnswers::PendingAnswer pending_scan_;
    bool scanning_ = false;
    bool scan_again_ = false;               // after the current scan
    std::atomic<std::uint64_t> asked_ = 0;  // calls of check()
    std::uint64_t checks_ = 0;              // of these, those received on the strand
    std::uint64_t checks_of_scan_ = 0;      // those received before the current scan
    std::uint64_t checks_answered_ = 0;     // those answered by an update
    TimePoint scan_began_{};                // of the current scan, or the last one
    bool delivered_ = false;                // the host has a configuration
    /// The jobs of the host. Not null.
    std::shared_ptr<const detail::KnownJobs> jobs_ = std::make_shared<const detail::KnownJobs>();
    std::optional<Scan> unconfirmed_;  // waits for a second scan of the same bytes
    TimePoint confirmed_from_{};       // by a scan started then or later
    Files known_;                      // null: report the next result in any case
    std::string failure_;              // of the last scan, if it found no files
};

ScrapeConfigReloader::ScrapeConfigReloader(const asio::any_io_executor& executor, std::string path,
                                           ScrapeConfigOptions options, Duration check_interval,
                                           Callback callback, const asio::any_io_executor& parser) {
    detail::check_host_executor(executor, "ScrapeConfigReloader");
    detail::check_callback(callback, "ScrapeConfigReloader");
    impl_ = std::make_shared<Impl>(executor, std::move(path), std::move(options), check_interval,
                                   std::move(callback), parser);
}

ScrapeConfigReloader& ScrapeConfigReloader::operator=(ScrapeConfigReloader&& other) noexcept {
    detail::take_over(impl_, other.impl_);
    return *this;
}

ScrapeConfigReloader::~ScrapeConfigReloader() { cancel(); }

void ScrapeConfigReloader::expect_jobs(std::set<std::string> names) {
    impl_->expect_jobs(std::move(names));
}
void ScrapeConfigReloader::start() { impl_->start(); }
std::uint64_t ScrapeConfigReloader::check() { return impl_->check(); }
void ScrapeConfigReloader::cancel() noexcept {
    if (impl_) impl_->cancel();
}

}  // namespace k8s_sd::inline v0
