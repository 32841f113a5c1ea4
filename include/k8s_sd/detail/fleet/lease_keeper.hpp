#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/short_request.hpp"
#include "k8s_sd/detail/fleet/leases.hpp"
#include "k8s_sd/environment.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Decides which request renews a Lease: first, like client-go, an update of the known version
/// without reading it.
class LeasePlan {
 public:
    enum class Step { create, read, update };
    enum class Next {
        done,   ///< the Lease is renewed
        again,  ///< continue with the next step at once
        later,  ///< the attempt failed
    };

    Step step() const noexcept {
        if (!version_.empty()) return Step::update;
        return exists_ ? Step::read : Step::create;
    }
    /// The version of the Lease when it was last read or written; empty: unknown.
    const std::string& version() const noexcept { return version_; }

    /// \param status   of the response to step(); 0: there was none
    /// \param version  of the Lease in the response; empty: none
    Next on_answer(unsigned status, std::string version) {
        const Step asked = step();
        const bool good = (status == 200 || status == 201) && !version.empty();
        if (good) {
            version_ = std::move(version);
            exists_ = true;
            steps_ = asked == Step::read ? steps_ : 0;
            return asked == Step::read ? again() : Next::done;
        }
        // Another client has created, changed or deleted it.
        const bool conflict = asked != Step::read && status == 409;
        if (!conflict && status != 404) return fail();
        version_.clear();
        exists_ = conflict;
        return again();
    }

 private:
    Next again() { return ++steps_ < max_steps ? Next::again : fail(); }
    Next fail() {
        steps_ = 0;
        return Next::later;
    }

    static constexpr int max_steps = 5;
    std::string version_;
    bool exists_ = false;
    int steps_ = 0;  ///< consecutive steps without success
};

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
