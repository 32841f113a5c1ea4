#include "k8s_sd/detail/base/due_time.hpp"
#include "k8s_sd/detail/base/host_arguments.hpp"
#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/detail/net/late_answers.hpp"
#include "k8s_sd/detail/scrape/scrape_config_reader.hpp"
#include "k8s_sd/error_text.hpp"
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
struct ConfigLook {
    std::shared_ptr<const ConfigFiles> files;  ///< as found
    /// nullopt: unchanged.
    std::optional<ScrapeConfigUpdate> update;
    /// The host's jobs after the update; set with `update->config`.
    std::shared_ptr<const KnownJobs> jobs{};
    bool needs_second_look = false;  ///< the update would take something from the host's jobs
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
            self->scan_timer_ = self->clock_->make_timer(self->strand_);
            self->second_look_ = self->clock_->make_timer(self->strand_);
            self->look_later();
            self->look();
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
            self->look_again_ = self->looking_;
            self->look();
        });
        return number;
    }
    // Any thread.
    void cancel() noexcept {
        if (cancelled_.exchange(true)) return;
        asio::post(strand_, [self = shared_from_this()] {
            self->timer_.reset();
            self->scan_timer_.reset();
            self->second_look_.reset();
            self->pending_scan_.cancel();
        });
    }

 private:
    using Files = std::shared_ptr<const detail::ConfigFiles>;
    using Look = detail::ConfigLook;

    /// The input of a scan, shared with the thread performing it.
    struct ScanInput {
        std::string path;
        ScrapeConfigOptions options;
    };

    void look_later() {
        if (interval_ <= Duration{}) return;
        timer_->expires_at(detail::due_after(clock_->now(), interval_), [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (!self || self->cancelled_) return;
            self->look_later();
            self->look();
        });
    }

    void look() {
        if (cancelled_ || looking_) return;
        looking_ = true;
        checks_of_look_ = checks_;
        look_began_ = clock_->now();
        scan_timer_->expires_at(detail::due_after(clock_->now(), max_scan_time),
                                [weak = weak_from_this()] {
                                    if (const auto self = weak.lock()) self->tell_of_long_look();
                                });
        pending_scan_ = detail::LateAnswers::async_ask<Look>(
            strand_, nullptr,
            [this](const std::function<void(Look)>& complete) {
                start_look([complete, input = input_,
                            known = unconfirmed_ ? unconfirmed_->files : known_,
                            jobs = jobs_] { complete(look_at(*input, known, *jobs)); });
            },
            [path = input_->path](const std::string& problem) {
                return Look{nullptr, failed(path, problem)};
            },
            [weak = weak_from_this()](const Look& look) {
                if (const auto self = weak.lock()) self->take(look);
            });
    }

    void start_look(std::function<void()> call) const {
        if (parser_) return asio::post(parser_, std::move(call));
        if (!file_calls_->run(std::move(call))) {
            throw std::runtime_error("too many files are being read");
        }
    }

    void take(const Look& look) {
        looking_ = false;
        if (cancelled_) return;
        scan_timer_->cancel();
        if (unconfirmed_ && !look.update) return take_same_bytes();
        unconfirmed_.reset();
        second_look_->cancel();
        // Unchanged files must be reported once in any case, so they have to be read.
        const bool untold = !look.update && !known_;
        const bool again = std::exchange(look_again_, false);
        const std::string failure = look.files ? "" : look.update->error->what();
        const bool repeated = !failure.empty() && failure == failure_;
        // check() was called meanwhile: report the next result in any case.
        if (look.update && !again) known_ = look.files;
        failure_ = again ? "" : failure;
        const std::uint64_t checks = checks_of_look_;
        std::optional<ScrapeConfigUpdate> update = look.update;
        if (look.needs_second_look) {
            update = hold_back(look);
        } else if (look.jobs) {
            jobs_ = look.jobs;
        }
        // Start it first, because the callback may throw or cancel.
        if (again || untold) this->look();
        if (!repeated) tell(std::move(update), checks);
    }

    /// \returns the update to report meanwhile
    std::optional<ScrapeConfigUpdate> hold_back(const Look& look) {
        unconfirmed_ = look;
        confirmed_from_ = look_began_ + until_second_look();
        wait_for_second_look();
        if (look.update->removed.empty()) return std::nullopt;
        return unconfirmed_removals(*look.update);
    }

    /// Shortens the delay for a pending check().
    Duration until_second_look() const {
        if (interval_ <= Duration{}) return second_look_when_asked;
        const bool asked = checks_ > checks_told_ || !told_;
        return asked ? std::min<Duration>(interval_, second_look_when_asked) : interval_;
    }

    void wait_for_second_look() {
        second_look_->expires_at(confirmed_from_, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && !self->cancelled_) self->look();
        });
    }

    /// A second scan has found the same bytes as the first one.
    void take_same_bytes() {
        const bool again = std::exchange(look_again_, false);
        if (look_began_ < confirmed_from_) {
            confirmed_from_ = std::min(confirmed_from_, look_began_ + until_second_look());
            return wait_for_second_look();
        }
        const Look confirmed = *std::exchange(unconfirmed_, std::nullopt);
        second_look_->cancel();
        known_ = again ? nullptr : confirmed.files;
        jobs_ = confirmed.jobs;
        const std::uint64_t checks = checks_of_look_;
        if (again) look();
        tell(confirmed.update, checks);
    }

    ScrapeConfigUpdate unconfirmed_removals(const ScrapeConfigUpdate& update) const {
        std::vector<ScrapeConfigFailure> failures = update.config->failures;
        for (const std::string& name : update.removed) {
            failures.push_back({name, input_->path,
                                "job " + detail::printable(name) +
                                    " is missing; it is removed when a second look at the file "
                                    "finds the same"});
        }
        return {.error = ScrapeConfigError(std::move(failures)), .removed = update.removed};
    }

    void tell_of_long_look() {
        if (cancelled_) return;
        // Report the final result even if the files are unchanged.
        known_.reset();
        tell(failed(input_->path, "has not been read in 10 s; it is still being waited for"),
             checks_of_look_);
    }

    void tell(std::optional<ScrapeConfigUpdate> update, std::uint64_t checks) {
        if (!update) return;
        const auto self = shared_from_this();
        const bool waits = !update->config && !update->removed.empty();
        update->checks = waits ? checks_told_ : checks;
        checks_told_ = update->checks;
        told_ = told_ || update->config;
        callback_(*update);
    }

    // Any thread, without this object. Does not throw.
    static Look look_at(const ScanInput& input, const Files& known, const detail::KnownJobs& jobs) {
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
    static Look judged(Look look, const detail::KnownJobs& jobs, const std::string& path) {
        if (!look.update->config) return look;
        const ScrapeConfigFile& file = *look.update->config;
        if (!file.lists_jobs && !jobs.empty()) {
            look.update = failed(path, "lists no jobs, so it may be cut; if there are to be none, "
                                       "write scrape_configs: []");
            return look;
        }
        look.update->removed = jobs.missing_in(file);
        look.needs_second_look = !look.update->removed.empty() || jobs.differ_in(file);
        look.jobs = std::make_shared<const detail::KnownJobs>(jobs.after(file));
        return look;
    }
    static ScrapeConfigUpdate failed(const std::string& path, const std::string& problem) {
        return {.error = ScrapeConfigError({{"", path, problem}})};
    }

    static constexpr std::chrono::seconds max_scan_time{10};
    static constexpr std::chrono::seconds second_look_when_asked{1};

    asio::strand<asio::any_io_executor> strand_;
    asio::any_io_executor parser_;  // may be empty
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<FileCalls> file_calls_;
    std::shared_ptr<const ScanInput> input_;
    Duration interval_;
    Callback callback_;
    std::atomic<bool> cancelled_ = false;
    std::unique_ptr<Timer> timer_;        // null: not started, or cancelled
    std::unique_ptr<Timer> scan_timer_;   // the same
    std::unique_ptr<Timer> second_look_;  // the same
    detail::LateAnswers::PendingAnswer pending_scan_;
    bool looking_ = false;
    bool look_again_ = false;               // after the current scan
    std::atomic<std::uint64_t> asked_ = 0;  // calls of check()
    std::uint64_t checks_ = 0;              // of these, those received on the strand
    std::uint64_t checks_of_look_ = 0;      // those received before the current scan
    std::uint64_t checks_told_ = 0;         // those answered by an update
    TimePoint look_began_{};                // of the current scan, or the last one
    bool told_ = false;                     // the host has a configuration
    /// The jobs of the host. Not null.
    std::shared_ptr<const detail::KnownJobs> jobs_ = std::make_shared<const detail::KnownJobs>();
    std::optional<Look> unconfirmed_;  // waits for a second scan of the same bytes
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
    if (this != &other) {
        cancel();
        impl_ = std::move(other.impl_);
    }
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
