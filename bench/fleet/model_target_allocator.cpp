// The OpenTelemetry operator's Target Allocator: one process watches the pods of the collectors and
// assigns targets by consistent hashing. It waits 30 s for a pod that is not ready. Collectors
// request their targets at start and every 30 s, each at a different time. Only the allocator
// discovers targets: a collector restarted while the API server is unreachable gets its targets,
// but nothing detects its death.

#include "course.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace bench {

namespace {

constexpr Seconds ask_again = 30;
constexpr Seconds grace = 30;
constexpr unsigned allocator = static_cast<unsigned>(-1);

OwnerRule assignment(const std::set<unsigned>& members) {
    return std::make_shared<OwnerOf>([members](std::uint64_t key) {
        return *std::max_element(members.begin(), members.end(), [key](unsigned a, unsigned b) {
            return mix(a + 1, key) < mix(b + 1, key);
        });
    });
}

/// When a collector sends its next request.
Seconds next_question(unsigned member, Seconds at) {
    const Seconds offset = ask_again * (member % 10) / 10;
    return offset + std::ceil((at - offset) / ask_again) * ask_again;
}

class Allocator {
 public:
    Allocator(const Plan& plan, const Pace& pace) : plan_(plan), pace_(pace) {
        for (unsigned i = 0; i < plan.members; ++i) members_.insert(i);
        for (const unsigned member : members_) course_.start(member, -1, assignment(members_));
    }

    void leave(unsigned member, Seconds at, Seconds seen) {
        course_.stop(member, at);
        if (can_ask(plan_, allocator, seen) != seen) return;
        members_.erase(member);
        assign(seen);
    }
    /// \param at  when the process begins \returns when it starts to scrape
    Seconds join(unsigned member, Seconds at) {
        if (members_.insert(member).second) assign(at);
        const Seconds begun = at + seconds(pace_.sync);
        course_.start(member, begun, assignment(members_));
        return begun;
    }
    void scale(unsigned members, Seconds at) {
        const auto before = static_cast<unsigned>(members_.size());
        for (unsigned i = members; i < before; ++i) course_.stop(i, at);
        for (unsigned i = members; i < before; ++i) members_.erase(i);
        for (unsigned i = before; i < members; ++i) members_.insert(i);
        const Seconds seen = members < before ? at : at + seconds(pace_.pod_start);
        assign(seen);
        for (unsigned i = before; i < members; ++i) join(i, seen);
    }
    void restart(Seconds at) {
        for (auto i = static_cast<unsigned>(members_.size()); i-- > 0;) {
            leave(i, at, at);
            at = join(i, at + seconds(pace_.pod_start)) + seconds(pace_.min_ready);
        }
    }
    Outcome outcome(std::size_t targets) const {
        return course_.outcome(seconds(plan_.length), targets);
    }

 private:
    void assign(Seconds at) {
        const OwnerRule rule = assignment(members_);
        for (const unsigned member : members_)
            course_.follow(member, next_question(member, at), rule);
    }

    const Plan& plan_;
    const Pace& pace_;
    std::set<unsigned> members_;
    Course course_;
};

}  // namespace

Outcome model_of_target_allocator(const Plan& plan, const Pace& pace, std::size_t targets) {
    Allocator fleet(plan, pace);
    for (const Step& step : plan.steps) {
        const Seconds at = seconds(step.at);
        switch (step.what) {
            case Step::What::restart: fleet.restart(at); break;
            case Step::What::scale: fleet.scale(step.value, at); break;
            case Step::What::crash:
                fleet.leave(step.value, at, at + seconds(pace.probe_fails) + grace);
                fleet.join(step.value, at + seconds(pace.restart));
                break;
            case Step::What::lose_node:
                fleet.leave(step.value, at, at + seconds(pace.node_fails) + grace);
                break;
            default: break;
        }
    }
    return fleet.outcome(targets);
}

}  // namespace bench
