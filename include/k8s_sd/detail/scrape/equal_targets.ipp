#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/base/make_room.hpp"
#include "k8s_sd/detail/scrape/equal_targets.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

TargetSteps EqualTargets::prepare(std::size_t leaving, std::size_t coming) {
    TargetSteps steps;
    steps.stop.reserve(leaving);
    steps.keep.reserve(leaving);
    steps.start.reserve(coming);
    make_room(active_, coming);
    return steps;
}

/// Inserts before erasing, so targets in both lists continue.
void EqualTargets::apply(const TargetTransition& transition, TargetSteps& steps) noexcept {
    const TargetId last_known = last_id_;
    for (const ScrapeTargetPtr& target : transition.coming) insert(target, steps);
    for (const auto& leaving : transition.leaving) erase(leaving, steps);
    report_displaced(steps, last_known);
}

void EqualTargets::insert(const ScrapeTargetPtr& target, TargetSteps& steps) noexcept {
    const auto [active, is_first] = active_.insert(target);
    if (is_first) {
        Access::links(*target).id = ++last_id_;
        steps.start.push_back({last_id_, target});
        return;
    }
    const ScrapeTarget* previous = active->get();
    const ScrapeTarget* next = Access::links(*previous).next;
    Access::links(*target).previous = previous;
    Access::links(*target).next = next;
    Access::links(*previous).next = Access::links(*next).previous = target.get();
}

/// Records previously active targets as candidates to stop.
void EqualTargets::erase(const TargetTransition::Leaving& leaving, TargetSteps& steps) noexcept {
    const ScrapeTargetPtr& target = leaving.target;
    const auto [id, next, previous] =
        std::exchange(Access::links(*target), {0, target.get(), target.get()});
    Access::links(*previous).next = next;
    Access::links(*next).previous = previous;
    if (id == 0) return;
    steps.stop.push_back({{id, target}, leaving.reason});
    const auto active = active_.find(target);
    if (next == target.get()) {
        active_.erase(active);
        return;
    }
    Access::links(*next).id = id;
    // The elements are equal, so the hash stays valid.
    const_cast<ScrapeTargetPtr&>(*active) = next;
}

/// Splits the candidates into targets to stop, and targets replaced by an equal one.
void EqualTargets::report_displaced(TargetSteps& steps, TargetId last_known) const noexcept {
    const auto by_id = [](const Step& a, const Step& b) { return a.id < b.id; };
    const auto same_id = [](const Step& a, const Step& b) { return a.id == b.id; };
    // The first one with an ID is the one known to the scraper.
    std::stable_sort(steps.stop.begin(), steps.stop.end(), by_id);
    steps.stop.erase(std::unique(steps.stop.begin(), steps.stop.end(), same_id), steps.stop.end());
    const bool not_even_started = !steps.stop.empty() && steps.stop.back().id > last_known;
    std::erase_if(steps.stop, [&](const Step& step) {
        const auto successor = active_.find(step.target);
        if (step.id > last_known) return true;
        if (successor == active_.end()) return false;
        if (!(*successor)->same_discovered(*step.target)) {
            steps.keep.push_back({step.id, *successor});
        }
        return true;
    });
    if (not_even_started) correct_started(steps);
}

void EqualTargets::correct_started(TargetSteps& steps) const noexcept {
    std::erase_if(steps.start, [&](Step& step) {
        const auto active = active_.find(step.target);
        if (active == active_.end()) return true;
        step.target = *active;
        return false;
    });
}

}  // namespace k8s_sd::inline v0::detail
