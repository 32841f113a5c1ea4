// Grafana Alloy's clustering: a ring with 512 tokens per member; members find each other by gossip.
// A leaving member announces its departure and stops; a joining one takes its share at once. The
// others react a second later, the minimum time between two changes. A silent member counts as dead
// after 10 s (assumed: memberlist probes once a second and suspects for 4 s or more). Each member
// discovers targets itself, so a process that starts while the API server is unreachable owns a
// share but does not know its targets.

#include "course.hpp"

#include <algorithm>
#include <set>

namespace bench {

namespace {

constexpr unsigned tokens = 512;
constexpr Seconds others_know_leaving = 1;
constexpr Seconds found_dead = 10;

OwnerRule ring_of(const std::set<unsigned>& members) {
    std::vector<std::pair<std::uint64_t, unsigned>> ring;
    for (const unsigned member : members) {
        for (unsigned i = 0; i < tokens; ++i) ring.emplace_back(mix(member + 1, i), member);
    }
    std::sort(ring.begin(), ring.end());
    return std::make_shared<OwnerOf>([ring = std::move(ring)](std::uint64_t key) {
        const auto next = std::lower_bound(ring.begin(), ring.end(), std::pair(key, 0U));
        return next == ring.end() ? ring.front().second : next->second;
    });
}

class Ring {
 public:
    Ring(const Plan& plan, const Pace& pace) : plan_(plan), pace_(pace) {
        for (unsigned i = 0; i < plan.members; ++i) members_.insert(i);
        for (const unsigned member : members_) course_.start(member, -1, ring_of(members_));
    }

    void leave(const std::set<unsigned>& who, Seconds at, Seconds others_know) {
        for (const unsigned member : who) {
            course_.stop(member, at);
            members_.erase(member);
        }
        announce(at + others_know);
    }
    /// \param at  when the processes begin \returns when they start to scrape
    Seconds join(const std::set<unsigned>& who, Seconds at) {
        members_.insert(who.begin(), who.end());
        announce(at + others_know_leaving);
        Seconds last = at;
        for (const unsigned member : who) {
            const Seconds begun = can_ask(plan_, member, at) + seconds(pace_.sync);
            course_.start(member, begun, ring_of(members_));
            last = std::max(last, begun);
        }
        return last;
    }
    void scale(unsigned members, Seconds at) {
        std::set<unsigned> who;
        const auto before = static_cast<unsigned>(members_.size());
        for (unsigned i = std::min(before, members); i < std::max(before, members); ++i)
            who.insert(i);
        if (members < before) {
            leave(who, at, others_know_leaving);
        } else {
            join(who, at + seconds(pace_.pod_start));
        }
    }
    void restart(Seconds at) {
        for (auto i = static_cast<unsigned>(members_.size()); i-- > 0;) {
            leave({i}, at, others_know_leaving);
            at = join({i}, at + seconds(pace_.pod_start)) + seconds(pace_.min_ready);
        }
    }
    Outcome outcome(std::size_t targets) const {
        return course_.outcome(seconds(plan_.length), targets);
    }

 private:
    void announce(Seconds at) {
        const OwnerRule ring = ring_of(members_);
        for (const unsigned member : members_) course_.follow(member, at, ring);
    }

    const Plan& plan_;
    const Pace& pace_;
    std::set<unsigned> members_;
    Course course_;
};

}  // namespace

Outcome model_of_alloy(const Plan& plan, const Pace& pace, std::size_t targets) {
    Ring ring(plan, pace);
    for (const Step& step : plan.steps) {
        const Seconds at = seconds(step.at);
        switch (step.what) {
            case Step::What::restart: ring.restart(at); break;
            case Step::What::scale: ring.scale(step.value, at); break;
            case Step::What::crash:
                ring.leave({step.value}, at, found_dead);
                ring.join({step.value}, at + seconds(pace.restart));
                break;
            case Step::What::lose_node: ring.leave({step.value}, at, found_dead); break;
            default: break;
        }
    }
    return ring.outcome(targets);
}

}  // namespace bench
