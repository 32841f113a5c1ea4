#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/auth/renewed_credentials.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/printable.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <algorithm>
#include <exception>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration max_issue_pause = std::chrono::seconds(60);
/// Credentials refused within this time after their issue were never valid.
constexpr Duration min_good_time = std::chrono::minutes(2);
/// Bounds lifetimes to the range of the clock.
constexpr std::chrono::seconds max_lifetime = std::chrono::hours(24 * 366);

/// Margin for the duration of a renewal, and for clock skew.
Duration renewal_margin(Duration lifetime) {
    return std::min<Duration>(std::chrono::seconds(60), lifetime / 10);
}

}  // namespace

RenewedCredentials::RenewedCredentials(std::unique_ptr<CredentialIssuer> issuer, Options options,
                                       std::shared_ptr<Clock> clock, Logger logger)
    : issuer_(std::move(issuer)),
      options_(std::move(options)),
      clock_(std::move(clock)),
      logger_(std::move(logger)),
      without_memory_(std::make_shared<const RequestCredentials>(credentials_without_memory())),
      next_issue_(clock_->now()) {}

void RenewedCredentials::async_get(const Refused& refused, Handler handler) {
    if (!waiting_.empty()) return waiting_.push_back(std::move(handler));
    if (refused && current_ && are_same(*refused, *current_)) refused_ = true;
    if (serve() || clock_->now() < next_issue_) return handler(answer());
    waiting_.push_back(std::move(handler));
    issue();
}

bool RenewedCredentials::serve() const {
    return current_ && !refused_ && (!renewal_ || clock_->now() < *renewal_);
}

void RenewedCredentials::issue() {
    const auto answered = std::make_shared<bool>(false);  // true: a handler threw
    IssuedCredentials none;
    none.problem = options_.name + ": unknown exception";
    try {
        return issuer_->async_issue(refused_, [this, answered](IssuedCredentials issued) {
            *answered = true;
            on_issued(std::move(issued));
        });
    } catch (const std::exception& error) {
        if (*answered) throw;
        none.problem = options_.name + ": " + printable(error.what());
    } catch (...) {
        if (*answered) throw;
    }
    on_issued(std::move(none));
}

void RenewedCredentials::on_issued(IssuedCredentials issued) {
    // Whatever happens, all clients get an answer: without one their requests would never end.
    FirstException problem;
    std::shared_ptr<const RequestCredentials> result;
    problem.catch_from([&] {
        take(std::move(issued));
        result = answer();
    });
    if (!result) {
        pause(true);
        result = without_memory_;
    }
    // Any handler may destroy this object.
    for (const Handler& handler : std::exchange(waiting_, {})) {
        problem.catch_from([&] { handler(result); });
    }
    problem.rethrow();
}

void RenewedCredentials::take(IssuedCredentials issued) {
    if (!is_header_text(view(issued.token))) {
        issued.problem =
            options_.name + ": the token contains a line break or another control character";
    }
    problem_ = issued.problem;
    if (!problem_.empty()) {
        pause(true);
    } else {
        accept(std::move(issued));
    }
    report();
}

void RenewedCredentials::accept(IssuedCredentials issued) {
    const TimePoint now = clock_->now();
    const bool in_vain = std::exchange(refused_, false) && now - issued_at_ < min_good_time;
    RequestCredentials fresh;
    if (!issued.token.empty()) {
        append(fresh.value, options_.scheme);
        append(fresh.value, " ");
        append(fresh.value, view(issued.token));
    }
    fresh.identity = std::move(issued.identity);
    if (!current_ || !are_same(*current_, fresh)) {
        current_ = std::make_shared<const RequestCredentials>(std::move(fresh));
    }
    issued_at_ = now;
    renewal_ = expiry_ = std::nullopt;
    const auto stated = lifetime_of(issued);
    if (!stated) return pause(in_vain);
    const std::chrono::seconds lifetime = std::min(*stated, max_lifetime);
    if (lifetime.count() <= 0) {
        problem_ = options_.name + ": the credentials had expired before they arrived; is the "
                                   "clock of this machine wrong?";
    }
    renewal_ = now + lifetime - renewal_margin(lifetime);
    // Clocks differ: let the server decide about apparently expired credentials.
    if (lifetime.count() > 0) expiry_ = now + lifetime;
    pause(in_vain || lifetime.count() <= 0);
}

std::optional<std::chrono::seconds> RenewedCredentials::lifetime_of(
    const IssuedCredentials& issued) const {
    if (!issued.expiry) return issued.lifetime;
    const auto wall = std::chrono::floor<std::chrono::seconds>(options_.wall_clock());
    // The difference of extreme external times would overflow.
    return std::clamp(*issued.expiry, wall - max_lifetime, wall + max_lifetime) - wall;
}

void RenewedCredentials::pause(bool in_vain) {
    const Duration longer = std::min(std::max(pause_ * 2, options_.min_pause), max_issue_pause);
    pause_ = in_vain ? longer : options_.min_pause;
    next_issue_ = clock_->now() + pause_;
    if (!in_vain) pause_ = Duration{};
}

/// Logs the problem, unless it is reported as the watch's error.
void RenewedCredentials::report() {
    if (reported_ == problem_ || answer()->ec) return;
    reported_ = problem_;
    const LogEvent event =
        problem_.empty() ? LogEvent::credentials_recovered : LogEvent::credentials_failed;
    logger_.log(LogLevel::warning, event,
                problem_.empty() ? options_.name + ": works again"
                                 : problem_ + "; the present credentials stay in use");
}

std::shared_ptr<const RequestCredentials> RenewedCredentials::answer() const {
    RequestCredentials result;
    const TimePoint now = clock_->now();
    if (current_ && (problem_.empty() || !expiry_ || now < *expiry_)) {
        result = *current_;
        if (refused_) {
            result.expiry = next_issue_;
        } else if (renewal_) {
            result.expiry = std::max(*renewal_, next_issue_);
        }
    } else {
        result.ec = errc::credentials_unavailable;
    }
    result.problem = problem_;
    return std::make_shared<const RequestCredentials>(std::move(result));
}

/// One client's access to shared credentials. The shared part holds a weak reference to the
/// handler; this object owns it.
class SharedCredentialSource final : public CredentialSource {
 public:
    SharedCredentialSource(asio::any_io_executor strand, std::shared_ptr<StrandCredentials> shared)
        : strand_(std::move(strand)), shared_(std::move(shared)) {}

    void async_get(Refused refused, Handler handler) override {
        waiting_ = std::make_shared<Handler>(std::move(handler));
        // Counts as work of the client's context until the handler is called.
        auto back = asio::prefer(strand_, asio::execution::outstanding_work.tracked);
        auto deliver = [back, weak = std::weak_ptr(waiting_)](
                           const std::shared_ptr<const RequestCredentials>& answer) {
            asio::post(back, [weak, answer] {
                const auto waiting = weak.lock();
                if (waiting) std::exchange(*waiting, nullptr)(*answer);
            });
        };
        asio::post(shared_->strand,
                   [shared = shared_, refused = std::move(refused), deliver = std::move(deliver)] {
                       shared->credentials->async_get(refused, deliver);
                   });
    }

 private:
    asio::any_io_executor strand_;
    std::shared_ptr<StrandCredentials> shared_;
    std::shared_ptr<Handler> waiting_;
};

asio::execution_context::id SharedCredentials::id;

std::shared_ptr<StrandCredentials> SharedCredentials::acquire(const asio::any_io_executor& executor,
                                                              const Issuer& issuer,
                                                              const Make& make) {
    const std::lock_guard lock(mutex_);
    if (auto shared = issuers_.find(issuer)) return shared;
    const asio::any_io_executor strand = make_own_strand(executor);
    auto shared = std::make_unique<StrandCredentials>(StrandCredentials{strand, make(strand)});
    // The credentials own timers and sockets of the strand, so they are always destroyed there.
    return issuers_.add(issuer, std::move(shared), [strand](StrandCredentials* last) {
        asio::dispatch(strand, [owned = std::unique_ptr<StrandCredentials>(last)] {});
    });
}

std::unique_ptr<CredentialSource> SharedCredentials::source(const asio::any_io_executor& strand,
                                                            const Issuer& issuer,
                                                            const Make& make) {
    auto& context = asio::query(strand, asio::execution::context);
    auto shared = asio::use_service<SharedCredentials>(context).acquire(strand, issuer, make);
    return std::make_unique<SharedCredentialSource>(strand, std::move(shared));
}

}  // namespace k8s_sd::inline v0::detail
