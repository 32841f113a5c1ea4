#include "course.hpp"

#include <algorithm>
#include <set>

namespace bench {

void Course::start(unsigned member, Seconds at, OwnerRule rule) {
    Rules& rules = members_[member];
    rules.erase(rules.lower_bound(at), rules.end());
    rules[at] = std::move(rule);
}

void Course::stop(unsigned member, Seconds at) { start(member, at, nullptr); }

void Course::follow(unsigned member, Seconds at, OwnerRule rule) {
    Rules& rules = members_[member];
    const auto after = rules.upper_bound(at);
    if (after == rules.begin()) return;
    if (std::prev(after)->second) rules[at] = std::move(rule);
}

Outcome Course::outcome(Seconds length, std::size_t targets) const {
    struct Change {
        Seconds at;
        unsigned member;
        const OwnerOf* rule;  // null: scrapes nothing
    };
    std::vector<Change> changes;
    for (const auto& [member, rules] : members_) {
        for (const auto& [at, rule] : rules) {
            if (at < length) changes.push_back({at, member, rule.get()});
        }
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.at < b.at; });
    Outcome sum;
    for (std::size_t target = 0; target < targets; ++target) {
        const std::uint64_t key = key_of(target);
        std::set<unsigned> scrapers;
        Seconds since = 0;
        const auto account = [&](Seconds until) {
            const double time = std::max(0.0, until - since);
            if (scrapers.empty()) {
                sum.gap_seconds += time;
                sum.max_gap = std::max(sum.max_gap, time);
            } else {
                sum.double_seconds += time * static_cast<double>(scrapers.size() - 1);
            }
        };
        for (const Change& change : changes) {
            const bool now = change.rule && (*change.rule)(key) == change.member;
            if (now == scrapers.contains(change.member)) continue;
            account(change.at);
            since = std::max(0.0, change.at);
            if (now) {
                scrapers.insert(change.member);
                if (change.at >= 0) ++sum.moved;
            } else {
                scrapers.erase(change.member);
            }
        }
        account(length);
    }
    return sum;
}

Seconds can_ask(const Plan& plan, unsigned member, Seconds at) {
    Seconds away = std::numeric_limits<Seconds>::max();
    unsigned cut = 0;
    for (const Step& step : plan.steps) {
        using What = Step::What;
        const Seconds when = seconds(step.at);
        if (step.what == What::cut) cut = step.value;
        const bool concerns =
            step.what == What::api_away || step.what == What::api_back || member < cut;
        if (!concerns) continue;
        if (step.what == What::api_away || step.what == What::cut) away = when;
        if (step.what != What::api_back && step.what != What::uncut) continue;
        if (at >= away && at < when) return when;
        away = std::numeric_limits<Seconds>::max();
    }
    return at;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t x = a * 0x9E3779B97F4A7C15U + b + 0x632BE59BD9B4E019U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

std::uint64_t key_of(std::size_t target) noexcept { return mix(target, 1); }

}  // namespace bench
