#include "collectors/collector_pods.hpp"

#include <algorithm>

namespace bridge {

namespace {

bool is_ready(const k8s_sd::api::Pod& pod) {
    return std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                       [](const auto& condition) {
                           return condition.type == "Ready" && condition.status == "True";
                       });
}

}  // namespace

void CollectorPods::set(const k8s_sd::api::Pod& pod, TimePoint now) {
    State& state = pods_[std::string(pod.metadata.name)];
    state.node = pod.spec.node_name;
    state.ended = pod.metadata.deletion_timestamp || pod.status.phase == "Succeeded" ||
                  pod.status.phase == "Failed";
    if (is_ready(pod)) {
        state.unready_since.reset();
    } else if (!state.unready_since) {
        state.unready_since = now;
    }
}

void CollectorPods::remove(const k8s_sd::api::Pod& pod) {
    pods_.erase(std::string(pod.metadata.name));
}

CollectorPods::TimePoint CollectorPods::end_of(const State& state) const {
    if (state.ended) return TimePoint::min();
    if (!state.unready_since) return TimePoint::max();
    return *state.unready_since +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(grace_);
}

std::vector<Collector> CollectorPods::members(TimePoint now) const {
    std::vector<Collector> members;
    for (const auto& [name, state] : pods_) {
        if (end_of(state) > now) members.push_back({name, state.node});
    }
    return members;
}

std::set<std::string, std::less<>> CollectorPods::idle(TimePoint now) const {
    std::set<std::string, std::less<>> names;
    for (const auto& [name, state] : pods_) {
        if (end_of(state) <= now) names.insert(name);
    }
    return names;
}

std::optional<CollectorPods::TimePoint> CollectorPods::next_change(TimePoint now) const {
    std::optional<TimePoint> next;
    for (const auto& [name, state] : pods_) {
        const TimePoint end = end_of(state);
        if (end > now && end != TimePoint::max() && (!next || end < *next)) next = end;
    }
    return next;
}

}  // namespace bridge
