// prometheus-operator with shards: each shard is a StatefulSet of one pod, and keeps the targets
// whose hash modulo the number of shards equals its own number. Another number of shards needs
// another configuration; a sidecar loads it once kubelet has updated the Secret: here within a
// minute, each shard at a different time. An update of the pods restarts all StatefulSets together.
// Nothing detects a dead shard, and a pod on a lost node is not replaced.

#include "course.hpp"

#include <algorithm>

namespace bench {

namespace {

constexpr Seconds secret_arrives = 60;

OwnerRule hashmod(unsigned shards) {
    return std::make_shared<OwnerOf>(
        [shards](std::uint64_t key) { return static_cast<unsigned>(key % shards); });
}

}  // namespace

Outcome model_of_prometheus_operator(const Plan& plan, const Pace& pace, std::size_t targets) {
    Course course;
    unsigned shards = plan.members;
    for (unsigned i = 0; i < shards; ++i) course.start(i, -1, hashmod(shards));

    const auto begin = [&](unsigned shard, Seconds process) {
        course.start(shard, can_ask(plan, shard, process) + seconds(pace.sync), hashmod(shards));
    };
    for (const Step& step : plan.steps) {
        const Seconds at = seconds(step.at);
        const unsigned before = shards;
        switch (step.what) {
            case Step::What::restart:
                for (unsigned i = 0; i < shards; ++i) {
                    course.stop(i, at);
                    begin(i, at + seconds(pace.pod_start));
                }
                break;
            case Step::What::scale: {
                shards = step.value;
                const unsigned staying = std::min(before, shards);
                for (unsigned i = 0; i < staying; ++i)
                    course.follow(i, at + secret_arrives * (i + 1) / staying, hashmod(shards));
                for (unsigned i = before; i < shards; ++i) begin(i, at + seconds(pace.pod_start));
                for (unsigned i = shards; i < before; ++i) course.stop(i, at);
                break;
            }
            case Step::What::crash:
                course.stop(step.value, at);
                begin(step.value, at + seconds(pace.restart));
                break;
            case Step::What::lose_node: course.stop(step.value, at); break;
            default: break;
        }
    }
    return course.outcome(seconds(plan.length), targets);
}

}  // namespace bench
