#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/short_request.hpp"
#include "k8s_sd/detail/fleet/lease_plan.hpp"
#include "k8s_sd/detail/fleet/lease_text.hpp"
#include "k8s_sd/environment.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Keeps the Lease of this member renewed. Used on the strand of its client.
class LeaseKeeper final : public std::enable_shared_from_this<LeaseKeeper> {
 public:
    /// Called on changes of problem().
    using OnProblem = std::function<void()>;

    LeaseKeeper(std::shared_ptr<ApiClient>, LeaseRecord, Duration interval, OnProblem);

    void start() { renew(); }
    void stop() noexcept;
    /// Publishes the state to the other members at once.
    void announce(MemberState);
    /// Why the last renewal failed, in words; empty: it succeeded.
    const std::string& problem() const noexcept { return problem_; }

 private:
    void renew();
    void ask();
    void on_answer(const ShortRequest::Answer&);
    void renew_after(Duration);
    void set_problem(std::string);
    std::string in_words(const ShortRequest::Answer&, const std::string& message) const;

    const std::shared_ptr<ApiClient> client_;
    const Duration interval_;
    const OnProblem on_problem_;
    const std::shared_ptr<ShortRequest> request_;
    const std::unique_ptr<Timer> timer_;
    LeaseRecord record_;
    LeasePlan plan_;
    Backoff backoff_;
    std::chrono::system_clock::time_point renewed_{};  ///< the last written renewTime
    bool asking_ = false;
    bool again_ = false;  ///< the record has changed since the last request
    bool stopped_ = false;
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
