#include "conformance/comparison.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace k8s_sd::test {

namespace {

constexpr std::size_t max_targets_shown = 3;
constexpr std::size_t max_labels_shown = 6;

using Targets = std::vector<LabelMap>;

/// Any of the possible values is equally valid.
void settle_unstable(Targets& targets, const Answer& expected) {
    for (LabelMap& target : targets) {
        for (const auto& [name, values] : expected.unstable) {
            const auto label = target.find(name);
            if (label != target.end() && values.contains(label->second))
                label->second = *values.begin();
        }
    }
}

std::string address_of(const LabelMap& target) {
    const auto address = target.find("__address__");
    return address == target.end() ? "(no address)" : address->second;
}

/// The edits that turn `found` into `expected`, one line per label.
std::vector<std::string> label_differences(const LabelMap& expected, const LabelMap& found) {
    std::vector<std::string> lines;
    for (const auto& [name, value] : expected) {
        const auto it = found.find(name);
        if (it == found.end()) {
            lines.push_back("missing   " + name + "=" + value);
        } else if (it->second != value) {
            lines.push_back("different " + name + "=" + it->second + ", expected " + value);
        }
    }
    for (const auto& [name, value] : found) {
        if (!expected.contains(name)) lines.push_back("extra     " + name + "=" + value);
    }
    return lines;
}

/// The most likely counterpart of `expected`: one of the same address, else any.
Targets::iterator closest(const LabelMap& expected, Targets& candidates) {
    return std::min_element(candidates.begin(), candidates.end(),
                            [&](const auto& a, const auto& b) {
                                const auto distance = [&](const LabelMap& target) {
                                    return std::pair(address_of(target) != address_of(expected),
                                                     label_differences(expected, target).size());
                                };
                                return distance(a) < distance(b);
                            });
}

std::string describe(const LabelMap& expected, Targets& unexpected) {
    const auto match = closest(expected, unexpected);
    if (match == unexpected.end()) return "missing target " + address_of(expected) + "\n";
    const std::vector<std::string> lines = label_differences(expected, *match);
    unexpected.erase(match);
    std::string text = "target " + address_of(expected) + ":\n";
    for (std::size_t i = 0; i < std::min(lines.size(), max_labels_shown); ++i) {
        text += "  " + lines[i] + "\n";
    }
    if (lines.size() > max_labels_shown) {
        text += "  and " + std::to_string(lines.size() - max_labels_shown) + " more labels\n";
    }
    return text;
}

}  // namespace

std::string difference(const Answer& expected, const std::vector<LabelMap>& found,
                       LabelDialect dialect) {
    Targets wanted = expected.targets;
    Targets had = found;
    for (Targets* targets : {&wanted, &had}) {
        settle_unstable(*targets, expected);
        std::sort(targets->begin(), targets->end());
        if (dialect == LabelDialect::prometheus) continue;
        targets->erase(std::unique(targets->begin(), targets->end()), targets->end());
    }
    Targets missing;
    Targets unexpected;
    std::set_difference(wanted.begin(), wanted.end(), had.begin(), had.end(),
                        std::back_inserter(missing));
    std::set_difference(had.begin(), had.end(), wanted.begin(), wanted.end(),
                        std::back_inserter(unexpected));
    if (missing.empty() && unexpected.empty()) return {};

    std::string text = "\nexpected " + std::to_string(wanted.size()) + " targets, found " +
                       std::to_string(had.size()) + "\n";
    std::size_t shown = 0;
    for (const LabelMap& target : missing) {
        if (shown++ < max_targets_shown) text += describe(target, unexpected);
    }
    if (missing.size() > max_targets_shown) return text + "...\n";
    for (const LabelMap& target : unexpected) {
        if (shown++ < max_targets_shown) text += "extra target " + address_of(target) + "\n";
    }
    return text;
}

}  // namespace k8s_sd::test
