#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/scrape/config_scan.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// Confined to its strand, except where noted.
class ScrapeConfigReloader::Impl : public std::enable_shared_from_this<Impl> {
 public:
    Impl(const asio::any_io_executor& executor, std::string path, ScrapeConfigOptions options,
         Duration interval, Callback callback, const asio::any_io_executor& parser)
        : strand_(asio::make_strand(executor)),
          clock_(detail::ContextEnvironment::of(strand_).clock()),
          interval_(interval),
          callback_(std::move(callback)),
          scanner_(strand_, parser, {std::move(path), std::move(options)}),
          confirmation_(interval) {}

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
            self->confirmation_timer_ = self->clock_->make_timer(self->strand_);
            self->scan_later();
            self->scan();
        });
    }
    // Any thread.
    std::uint64_t check() {
        const std::uint64_t number = requests_.ask();
        asio::post(strand_, [self = shared_from_this(), number] {
            self->requests_.receive(number);
            if (!self->timer_) return;
            self->known_ = {};
            self->scan_again_ = self->scanner_.scanning();
            self->scan();
        });
        return number;
    }
    // Any thread.
    void cancel() noexcept {
        if (cancelled_.exchange(true)) return;
        end_post_.post(strand_, [self = shared_from_this()] {
            self->timer_.reset();
            self->confirmation_timer_.reset();
            self->scanner_.cancel();
        });
    }

 private:
    using Scan = detail::ConfigScan;

    /// The last result, as far as it need not be reported again.
    struct Known {
        std::shared_ptr<const detail::ConfigFiles> files;  ///< null: report the next result
        std::string failure;                               ///< of a scan that found no files
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
        if (cancelled_ || scanner_.scanning()) return;
        requests_.begin_scan();
        scanner_.scan(confirmation_.pending() ? confirmation_.files() : known_.files, jobs_,
                      detail::if_alive(weak_from_this(), &Impl::take),
                      detail::if_alive(weak_from_this(), &Impl::report_long_scan));
    }

    void take(const Scan& scan) {
        scanner_.end();
        if (cancelled_) return;
        if (confirmation_.pending() && !scan.update) return take_same_bytes();
        confirmation_.reset();
        confirmation_timer_->cancel();
        // Unchanged files must be reported once in any case, so they have to be read.
        const bool undelivered = !scan.update && !known_.files;
        const bool again = std::exchange(scan_again_, false);
        const std::string failure = scan.files ? "" : scan.update->error->what();
        const bool repeated = !failure.empty() && failure == known_.failure;
        // check() was called meanwhile: report the next result in any case.
        if (scan.update && !again) known_.files = scan.files;
        known_.failure = again ? "" : failure;
        const std::uint64_t checks = requests_.of_scan();
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
        confirmation_.hold(scan, scanner_.began(), is_urgent());
        wait_for_confirmation();
        if (scan.update->removed.empty()) return std::nullopt;
        return unconfirmed_removals(*scan.update);
    }

    bool is_urgent() const { return requests_.pending() || !delivered_; }

    void wait_for_confirmation() {
        confirmation_timer_->expires_at(confirmation_.due(), [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && !self->cancelled_) self->scan();
        });
    }

    /// A second scan has found the same bytes as the first one.
    void take_same_bytes() {
        const bool again = std::exchange(scan_again_, false);
        const auto confirmed = confirmation_.confirm(scanner_.began(), is_urgent());
        if (!confirmed) return wait_for_confirmation();
        confirmation_timer_->cancel();
        known_.files = again ? nullptr : confirmed->files;
        jobs_ = confirmed->jobs;
        const std::uint64_t checks = requests_.of_scan();
        if (again) scan();
        deliver(confirmed->update, checks);
    }

    ScrapeConfigUpdate unconfirmed_removals(const ScrapeConfigUpdate& update) const {
        std::vector<ScrapeConfigFailure> failures = update.config->failures;
        for (const std::string& name : update.removed) {
            failures.push_back({name, scanner_.path(),
                                "job " + detail::printable(name) +
                                    " is missing; it is removed when a second read of the file "
                                    "finds the same"});
        }
        return {.error = ScrapeConfigError(std::move(failures)), .removed = update.removed};
    }

    void report_long_scan() {
        if (cancelled_) return;
        // Report the final result even if the files are unchanged.
        known_.files.reset();
        deliver(detail::failed_config(scanner_.path(),
                                      "has not been read in 10 s; the read is still in progress"),
                requests_.of_scan());
    }

    void deliver(std::optional<ScrapeConfigUpdate> update, std::uint64_t checks) {
        if (!update) return;
        const auto self = shared_from_this();
        const bool waits = !update->config && !update->removed.empty();
        update->checks = waits ? requests_.answered() : checks;
        requests_.answer(update->checks);
        delivered_ = delivered_ || update->config;
        callback_(*update);
    }

    asio::strand<asio::any_io_executor> strand_;
    std::shared_ptr<Clock> clock_;
    detail::Reminder end_post_{clock_};
    Duration interval_;
    Callback callback_;
    std::atomic<bool> cancelled_ = false;
    std::unique_ptr<Timer> timer_;               // null: not started, or cancelled
    std::unique_ptr<Timer> confirmation_timer_;  // the same
    detail::ConfigScanner scanner_;
    bool scan_again_ = false;  // after the current scan
    detail::ScanRequests requests_;
    bool delivered_ = false;  // the host has a configuration
    /// The jobs of the host. Not null.
    std::shared_ptr<const detail::KnownJobs> jobs_ = std::make_shared<const detail::KnownJobs>();
    detail::ScanConfirmation confirmation_;
    Known known_;
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
