#include "k8s_sd/detail/base/due_time.hpp"
#include "k8s_sd/detail/base/host_arguments.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <atomic>
#include <utility>

namespace k8s_sd::inline v0 {

/// Confined to its strand, except where noted.
class ScrapeConfigReloader::Impl : public std::enable_shared_from_this<Impl> {
 public:
    Impl(const asio::any_io_executor& executor, std::string path, ScrapeConfigOptions options,
         Duration interval, Callback callback)
        : strand_(asio::make_strand(executor)),
          clock_(detail::ContextEnvironment::of(strand_).clock()),
          path_(std::move(path)),
          options_(options),
          interval_(interval),
          callback_(std::move(callback)) {}

    // Any thread.
    void start() {
        asio::post(strand_, [self = shared_from_this()] {
            if (self->timer_ || self->cancelled_) return;
            self->timer_ = self->clock_->make_timer(self->strand_);
            self->look();
        });
    }
    // Any thread.
    void check() {
        asio::post(strand_, [self = shared_from_this()] {
            if (!self->timer_) return;
            self->content_.reset();
            self->look();
        });
    }
    // Any thread.
    void cancel() noexcept {
        if (cancelled_.exchange(true)) return;
        asio::post(strand_, [self = shared_from_this()] { self->timer_.reset(); });
    }

 private:
    void look() {
        if (cancelled_) return;
        // First, as the callback may throw, or cancel.
        if (interval_ > Duration{}) {
            timer_->expires_at(detail::due_after(clock_->now(), interval_),
                               [weak = weak_from_this()] {
                                   if (auto self = weak.lock()) self->look();
                               });
        }
        Content content = read();
        if (content == content_) return;
        content_ = std::move(content);
        callback_(parse(*content_));
    }

    /// The text of the file, or why there is none.
    struct Reading {
        std::string text;
        std::optional<std::string> problem;
        friend bool operator==(const Reading&, const Reading&) = default;
    };
    using Content = std::optional<Reading>;

    Content read() const {
        try {
            return Reading{detail::read_config_file(path_, path_), std::nullopt};
        } catch (const ConfigError& e) {
            return Reading{{}, e.problem()};
        }
    }
    ScrapeConfigUpdate parse(const Reading& reading) const {
        if (reading.problem) return {std::nullopt, ConfigError(path_, *reading.problem)};
        try {
            return {parse_scrape_configs(reading.text, options_, path_), std::nullopt};
        } catch (const ConfigError& e) {
            return {std::nullopt, e};
        }
    }

    asio::strand<asio::any_io_executor> strand_;
    std::shared_ptr<Clock> clock_;
    std::string path_;
    ScrapeConfigOptions options_;
    Duration interval_;
    Callback callback_;
    std::atomic<bool> cancelled_ = false;
    std::unique_ptr<Timer> timer_;  // null: not started, or cancelled
    Content content_;
};

ScrapeConfigReloader::ScrapeConfigReloader(const asio::any_io_executor& executor, std::string path,
                                           ScrapeConfigOptions options, Duration check_interval,
                                           Callback callback) {
    detail::check_host_executor(executor, "ScrapeConfigReloader");
    detail::check_callback(callback, "ScrapeConfigReloader");
    impl_ = std::make_shared<Impl>(executor, std::move(path), options, check_interval,
                                   std::move(callback));
}

ScrapeConfigReloader& ScrapeConfigReloader::operator=(ScrapeConfigReloader&& other) noexcept {
    if (this != &other) {
        cancel();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

ScrapeConfigReloader::~ScrapeConfigReloader() { cancel(); }

void ScrapeConfigReloader::start() { impl_->start(); }
void ScrapeConfigReloader::check() { impl_->check(); }
void ScrapeConfigReloader::cancel() noexcept {
    if (impl_) impl_->cancel();
}

}  // namespace k8s_sd::inline v0
