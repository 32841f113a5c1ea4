#include "k8s_sd/detail/base/due_time.hpp"
#include "k8s_sd/detail/base/host_arguments.hpp"
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
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace k8s_sd::inline v0 {

namespace detail {

/// What one look at the files of a configuration has shown.
struct ConfigLook {
    std::shared_ptr<const ConfigFiles> files;  ///< as they were found
    /// None: they are as they were.
    std::optional<ScrapeConfigUpdate> update;
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
          question_{
              std::make_shared<const Question>(Question{std::move(path), std::move(options)})},
          interval_(interval),
          callback_(std::move(callback)) {}

    // Any thread.
    void start() {
        asio::post(strand_, [self = shared_from_this()] {
            if (self->timer_ || self->cancelled_) return;
            self->timer_ = self->clock_->make_timer(self->strand_);
            self->patience_ = self->clock_->make_timer(self->strand_);
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
            self->patience_.reset();
            self->look_ticket_.cancel();
        });
    }

 private:
    using Files = std::shared_ptr<const detail::ConfigFiles>;
    using Look = detail::ConfigLook;

    /// What is asked of the files. Whoever looks has a part in it.
    struct Question {
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
        patience_->expires_at(detail::due_after(clock_->now(), longest_look),
                              [weak = weak_from_this()] {
                                  if (const auto self = weak.lock()) self->tell_of_long_look();
                              });
        look_ticket_ = detail::LateAnswers::async_ask<Look>(
            strand_, nullptr,
            [this](const std::function<void(Look)>& land) {
                start_look([land, question = question_, known = known_] {
                    land(look_at(*question, known));
                });
            },
            [path = question_->path](const std::string& problem) {
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
        patience_->cancel();
        // It shows nothing new, but is to be told in any case: what it is must be read.
        const bool untold = !look.update && !known_;
        const bool again = std::exchange(look_again_, false);
        const std::string failure = look.files ? "" : look.update->error->what();
        const bool repeated = !failure.empty() && failure == failure_;
        // What the next look shows is to be told in any case, as somebody has asked meanwhile.
        if (look.update && !again) known_ = look.files;
        failure_ = again ? "" : failure;
        const std::uint64_t checks = checks_of_look_;
        // First, as the callback may throw, or cancel.
        if (again || untold) this->look();
        if (!repeated) tell(look.update, checks);
    }

    void tell_of_long_look() {
        if (cancelled_) return;
        // What it shows in the end is to be told even if it is what was known before.
        known_.reset();
        tell(failed(question_->path, "has not been read in 10 s; it is still being waited for"),
             checks_of_look_);
    }

    void tell(std::optional<ScrapeConfigUpdate> update, std::uint64_t checks) {
        if (!update) return;
        const auto self = shared_from_this();
        update->checks = checks;
        callback_(*update);
    }

    // Any thread, without the object. Does not throw.
    static Look look_at(const Question& question, const Files& known) {
        try {
            if (known && !known->changed()) return {known, std::nullopt};
            const auto files = std::make_shared<detail::ConfigFiles>(question.options.max_bytes);
            return {files, update_of(question, *files)};
        } catch (const std::exception& e) {
            return {nullptr, failed(question.path, in_words(e))};
        } catch (...) {
            return {nullptr, failed(question.path, "unknown exception")};
        }
    }
    static ScrapeConfigUpdate update_of(const Question& question, detail::ConfigFiles& files) {
        try {
            return {.config = detail::read_scrape_configs(question.path, question.options, files)};
        } catch (const ScrapeConfigError& e) {
            return {.error = e};
        }
    }
    static ScrapeConfigUpdate failed(const std::string& path, const std::string& problem) {
        return {.error = ScrapeConfigError({{"", path, problem}})};
    }

    static constexpr std::chrono::seconds longest_look{10};

    asio::strand<asio::any_io_executor> strand_;
    asio::any_io_executor parser_;  // may be empty
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<FileCalls> file_calls_;
    std::shared_ptr<const Question> question_;
    Duration interval_;
    Callback callback_;
    std::atomic<bool> cancelled_ = false;
    std::unique_ptr<Timer> timer_;     // null: not started, or cancelled
    std::unique_ptr<Timer> patience_;  // the same
    detail::LateAnswers::Ticket look_ticket_;
    bool looking_ = false;
    bool look_again_ = false;               // after the look that is under way
    std::atomic<std::uint64_t> asked_ = 0;  // calls of check()
    std::uint64_t checks_ = 0;              // of these, those that have come to the strand
    std::uint64_t checks_of_look_ = 0;      // those that came before the look that is under way
    Files known_;                           // null: whatever is there is told
    std::string failure_;                   // of the last look, if it has seen no files
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

void ScrapeConfigReloader::start() { impl_->start(); }
std::uint64_t ScrapeConfigReloader::check() { return impl_->check(); }
void ScrapeConfigReloader::cancel() noexcept {
    if (impl_) impl_->cancel();
}

}  // namespace k8s_sd::inline v0
