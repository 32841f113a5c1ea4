// Relabels the targets of realistic pods, and compares with a straightforward implementation.

#include "discovered.hpp"
#include "k8s_sd/relabel/relabeler.hpp"
#include "measure.hpp"
#include "naive_relabeler.hpp"
#include "recipes.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace k8s_sd;
using bench::meta;
using bench::replace;
using bench::Rules;
using Clock = std::chrono::steady_clock;

/// The targets of a cluster's pods, with group and target labels merged.
std::vector<LabelMap> discover_targets() {
    std::vector<LabelMap> targets;
    for (const TargetGroupPtr& group : bench::discover_groups(1)) {
        for (std::size_t i = 0; i < group->size(); ++i) targets.push_back(group->merged(i));
    }
    return targets;
}

constexpr int rounds = 100;

struct Measured {
    double seconds = 1e9;  ///< of the best of several rounds
    std::size_t kept = 0;
    std::size_t labels = 0;
};

/// `prepare` makes a label set from each target, outside the measured part; `apply` relabels one.
template <class LabelSet, class Prepare, class Apply>
Measured measure(const std::vector<LabelMap>& targets, Prepare prepare, Apply apply) {
    std::vector<LabelSet> sets(targets.size());
    Measured result;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < sets.size(); ++i) prepare(sets[i], targets[i]);
        result.kept = result.labels = 0;
        const auto start = Clock::now();
        for (LabelSet& labels : sets) {
            if (!apply(labels)) continue;
            ++result.kept;
            result.labels += labels.size();
        }
        const std::chrono::duration<double> time = Clock::now() - start;
        result.seconds = std::min(result.seconds, time.count());
    }
    return result;
}

void fill(MutableLabels& labels, const LabelMap& target) {
    labels.clear();
    for (const auto& [name, value] : target) labels.set(name, value);
}

Measured measure_k8s_sd(const std::vector<LabelMap>& targets, const Rules& rules) {
    const Relabeler relabeler(rules);
    return measure<MutableLabels>(targets, fill,
                                  [&](MutableLabels& labels) { return relabeler.apply(labels); });
}

Measured measure_naive(const std::vector<LabelMap>& targets, const Rules& rules) {
    const bench::NaiveRelabeler relabeler(rules);
    return measure<LabelMap>(
        targets, [](LabelMap& labels, const LabelMap& target) { labels = target; },
        [&](LabelMap& labels) { return relabeler.apply(labels); });
}

RelabelRule keep(const std::string& source, const std::string& regex) {
    return {.action = RelabelAction::keep, .source_labels = {source}, .regex = regex};
}

struct Case {
    std::string name;
    Rules rules;
};

/// Ten copies, so that the cost of the rule dominates.
Case ten_times(const std::string& name, const RelabelRule& rule) { return {name, Rules(10, rule)}; }

std::vector<Case> cases() {
    const std::string pod = meta + "pod_name";
    const RelabelRule drop_labels{.action = RelabelAction::labeldrop,
                                  .regex = meta + "pod_annotation.*"};
    return {
        ten_times("replace, (.*)", replace(pod, "(.*)", "pod")),
        ten_times("replace, (.+)", replace(pod, "(.+)", "pod")),
        ten_times("replace, constant", {.target_label = "env", .replacement = "prod"}),
        ten_times("replace, prefix(.*)", replace(meta + "pod_ip", "1(.*)", "t", "x-$1")),
        ten_times("keep, literal", keep(meta + "pod_phase", "Running")),
        ten_times("keep, alternatives", keep(meta + "pod_phase", "Pending|Running|Unknown")),
        ten_times("keep, prefix.*", keep(meta + "pod_ip", "1.*")),
        ten_times("keep, regex", keep(meta + "pod_ip", "1[0-9.]+")),
        ten_times("replace, regex", replace("__address__", "([^:]+):(\\d+)", "t", "$2-$1")),
        ten_times("labelmap, prefix(.+)", bench::map_pod_labels()),
        ten_times("labeldrop, prefix.*", drop_labels),
        {"recipe: pods", bench::pods()},
        {"recipe: pods with annotations", bench::pods_with_annotations()},
        {"recipe: API servers", bench::api_servers()},
    };
}

void print(const Case& c, const std::vector<LabelMap>& targets) {
    const Measured ours = measure_k8s_sd(targets, c.rules);
    const Measured naive = measure_naive(targets, c.rules);
    if (ours.kept != naive.kept || ours.labels != naive.labels) {
        std::printf("%s: the implementations differ\n", c.name.c_str());
        std::exit(1);
    }
    const double rules = static_cast<double>(targets.size() * c.rules.size());
    std::printf("%-30s %9.1f ns %9.1f ns %7.1f %14.0f\n", c.name.c_str(),
                ours.seconds / rules * 1e9, naive.seconds / rules * 1e9,
                naive.seconds / ours.seconds, rules / ours.seconds);
}

/// An object of 1.5 MB can carry this many labels.
void print_large_labelmap() {
    for (const int count : {1'000, 10'000, 100'000}) {
        LabelMap target;
        for (int i = 0; i < count; ++i) target[meta + "pod_label_" + std::to_string(i)] = "v";
        const Rules rules{{.action = RelabelAction::labelmap, .regex = meta + "pod_label_(.+)"}};
        const Measured measured = measure_k8s_sd({target}, rules);
        std::printf("labelmap of %d labels: %.2f ms\n", count, measured.seconds * 1e3);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_relabel [TARGETS=300]");
        return 0;
    }
    std::vector<LabelMap> targets = discover_targets();
    // Few enough to stay in the cache: a host relabels labels that it has just made.
    targets.resize(std::min(targets.size(), bench::argument(argc, argv, 1, 300)));
    std::size_t labels = 0;
    for (const LabelMap& target : targets) labels += target.size();
    std::printf("%zu targets of %.1f labels\n", targets.size(),
                static_cast<double>(labels) / static_cast<double>(targets.size()));
    const Measured filled = measure<MutableLabels>(
        targets, [](MutableLabels&, const LabelMap&) {},
        [&, i = std::size_t{0}](MutableLabels& set) mutable {
            fill(set, targets[i++ % targets.size()]);
            return true;
        });
    std::printf("filling a label set: %.0f ns\n",
                filled.seconds / static_cast<double>(targets.size()) * 1e9);
    std::printf("%-30s %12s %12s %7s %14s\n", "a rule", "k8s_sd", "naive", "times",
                "rules a second");
    for (const Case& c : cases()) print(c, targets);
    print_large_labelmap();
    return 0;
}
