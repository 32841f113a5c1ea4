// vmagent's cluster mode: the owner of a target is its hash modulo
// -promscrape.cluster.membersCount. Each member gets the number when it starts, so another
// number is a restart of all: the old ones first, one after the other, then those that are new
// (VictoriaMetrics #8081, operator #1224). Nothing notices that one is dead: its targets wait for
// its restart, and a StatefulSet does not replace a pod on a lost node.

#include "course.hpp"

namespace bench {

namespace {

OwnerRule modulo(unsigned members) {
    return std::make_shared<OwnerOf>(
        [members](std::uint64_t key) { return static_cast<unsigned>(key % members); });
}

}  // namespace

Outcome model_of_vmagent(const Plan& plan, const Pace& pace, std::size_t targets) {
    Course course;
    unsigned members = plan.members;
    for (unsigned i = 0; i < members; ++i) course.start(i, -1, modulo(members));

    const auto begin = [&](unsigned member, Seconds process) {
        const Seconds begun = can_ask(plan, member, process) + seconds(pace.sync);
        course.start(member, begun, modulo(members));
        return begun;
    };
    const auto restart = [&](unsigned member, Seconds at) {
        course.stop(member, at);
        return begin(member, at + seconds(pace.pod_start)) + seconds(pace.min_ready);
    };
    for (const Step& step : plan.steps) {
        Seconds at = seconds(step.at);
        const unsigned before = members;
        switch (step.what) {
            case Step::What::restart:
                for (unsigned i = members; i-- > 0;) at = restart(i, at);
                break;
            case Step::What::scale:
                members = step.value;
                for (unsigned i = 0; i < std::min(before, members); ++i) at = restart(i, at);
                for (unsigned i = before; i < members; ++i) begin(i, at + seconds(pace.pod_start));
                for (unsigned i = members; i < before; ++i) course.stop(i, at);
                break;
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
