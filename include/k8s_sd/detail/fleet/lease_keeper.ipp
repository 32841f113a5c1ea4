#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/fleet/lease_keeper.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration first_renewal_pause = std::chrono::milliseconds(200);
constexpr Duration max_renewal_pause = std::chrono::seconds(7);
constexpr Duration renewal_timeout = std::chrono::seconds(5);

}  // namespace

LeaseKeeper::LeaseKeeper(std::shared_ptr<ApiClient> client, LeaseRecord record, Duration interval,
                         OnProblem on_problem)
    : client_(std::move(client)),
      interval_(interval),
      on_problem_(std::move(on_problem)),
      request_(std::make_shared<ShortRequest>(impl_of(*client_))),
      timer_(impl_of(*client_).environment.clock->make_timer(client_->get_executor())),
      record_(std::move(record)),
      backoff_(first_renewal_pause, max_renewal_pause, impl_of(*client_).next_seed()) {}

void LeaseKeeper::stop() noexcept {
    stopped_ = true;
    timer_->cancel();
    request_->cancel();
}

void LeaseKeeper::announce(MemberState state) {
    if (std::exchange(record_.state, state) == state || stopped_) return;
    again_ = asking_;
    if (!asking_) renew();
}

void LeaseKeeper::renew() {
    if (stopped_) return;
    using std::chrono::microseconds;
    // MicroTime has this resolution: make two renewals distinct.
    renewed_ = std::max(renewed_ + microseconds(1), std::chrono::system_clock::now());
    ask();
}

void LeaseKeeper::ask() {
    timer_->cancel();
    asking_ = true;
    const std::string path = "/apis/coordination.k8s.io/v1/namespaces/" + record_.ns + "/leases";
    const auto handler = [this](const ShortRequest::Answer& answer) { on_answer(answer); };
    const auto text = [this] { return lease_text(record_, plan_.version(), renewed_); };
    using enum LeasePlan::Step;
    switch (plan_.step()) {
        case create: return request_->start_write("POST", path, text(), renewal_timeout, handler);
        case update:
            return request_->start_write("PUT", path + "/" + lease_name(record_), text(),
                                         renewal_timeout, handler);
        case read:
            return request_->start(path + "/" + lease_name(record_), ShortRequest::short_body,
                                   renewal_timeout, handler);
    }
}

void LeaseKeeper::on_answer(const ShortRequest::Answer& answer) {
    asking_ = false;
    const LeaseAnswer read = read_lease_answer(answer.body);
    const std::string problem = in_words(answer, read.message);
    const unsigned status = answer.ec ? 0 : answer.head.status;
    switch (plan_.on_answer(status, read.version)) {
        case LeasePlan::Next::again: return ask();
        case LeasePlan::Next::done:
            backoff_.reset();
            set_problem({});
            if (std::exchange(again_, false)) return renew();
            // Jitter spreads the renewals of members started together.
            return renew_after(interval_ + backoff_.uniform(interval_ / 25));
        case LeasePlan::Next::later:
            set_problem(problem);
            again_ = false;
            // Obey Retry-After of a busy server, but renew before the Lease expires.
            return renew_after(
                std::max(backoff_.next(),
                         std::min(answer.head.retry_after.value_or(Duration()), interval_)));
    }
}

void LeaseKeeper::renew_after(Duration pause) {
    const TimePoint now = impl_of(*client_).environment.clock->now();
    timer_->expires_at(now + pause, if_alive(weak_from_this(), &LeaseKeeper::renew));
}

void LeaseKeeper::set_problem(std::string problem) {
    if (std::exchange(problem_, problem) != problem) on_problem_();
}

std::string LeaseKeeper::in_words(const ShortRequest::Answer& answer,
                                  const std::string& message) const {
    const std::string what = "the Lease " + record_.ns + "/" + lease_name(record_) +
                             " of this member cannot be renewed: ";
    if (answer.ec) {
        return what + (answer.problem.empty() ? answer.ec.message()
                                              : impl_of(*client_).redact(answer.problem));
    }
    const std::string status = "HTTP status " + std::to_string(answer.head.status);
    return what + status + (message.empty() ? "" : ": " + impl_of(*client_).redact(message));
}

}  // namespace k8s_sd::inline v0::detail
