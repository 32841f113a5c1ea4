#include "collectors/collector_pods.hpp"

#include <algorithm>

namespace k8s_sd_program {

namespace {

using k8s_sd::api::Pod;
using k8s_sd::api::PodCondition;

const PodCondition* readiness_of(const Pod& pod) {
    const auto& conditions = pod.status.conditions;
    const auto ready =
        std::find_if(conditions.begin(), conditions.end(),
                     [](const auto& condition) { return condition.type == "Ready"; });
    return ready == conditions.end() ? nullptr : &*ready;
}

/// The same rule as in the Target Allocator: the change of the condition or, for a pod not running,
/// its start.
std::optional<k8s_sd::api::Time> recorded_unready_since(const Pod& pod,
                                                        const PodCondition* readiness) {
    std::optional<k8s_sd::api::Time> since;
    if (pod.status.phase != "Running") since = pod.status.start_time;
    const auto changed = readiness ? readiness->last_transition_time : std::nullopt;
    return changed && since ? std::min(*changed, *since) : changed ? changed : since;
}

}  // namespace

void CollectorPods::set(const Pod& pod, TimePoint now) {
    State& state = pods_[std::string(pod.metadata.name)];
    state.node = pod.spec.node_name;
    state.ended = pod.metadata.deletion_timestamp || pod.status.phase == "Succeeded" ||
                  pod.status.phase == "Failed";
    const PodCondition* readiness = readiness_of(pod);
    if (readiness && readiness->status == "True") {
        state.unready.reset();
        return;
    }
    const auto recorded = recorded_unready_since(pod, readiness);
    const bool known = state.unready && state.unready->uid == pod.metadata.uid &&
                       state.unready->recorded == recorded;
    // The clock behind the pod's time may be ahead of this one.
    if (!known) {
        state.unready = {std::string(pod.metadata.uid), recorded,
                         recorded ? std::min<TimePoint>(*recorded, now) : now};
    }
}

void CollectorPods::remove(const k8s_sd::api::Pod& pod) {
    pods_.erase(std::string(pod.metadata.name));
}

CollectorPods::TimePoint CollectorPods::end_of(const State& state) const {
    if (state.ended || state.node.empty()) return TimePoint::min();
    return state.unready ? state.unready->since + grace_ : TimePoint::max();
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

}  // namespace k8s_sd_program
