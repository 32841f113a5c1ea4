// A regular expression, a text and a template, one per line: the fast paths and RE2 must agree,
// without a crash.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_relabelling -max_total_time=60 -max_len=120

#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/relabel/relabel_budget.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace k8s_sd;
using namespace k8s_sd::detail;

std::string take_line(std::string_view& bytes) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string line(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    return line;
}

/// The expansion of the template for the text; nullopt if the pattern does not match.
std::optional<std::string> expand(const Pattern& pattern, const std::string& text,
                                  const std::string& replacement) {
    const Replacement compiled(replacement, pattern, Replacement::References::labels);
    std::vector<std::string_view> groups(pattern.group_count() + 1);
    if (!pattern.match(text, groups)) return std::nullopt;
    MutableLabels labels;
    const RelabelLimits limits;
    RelabelBudget budget(limits);
    return std::string(compiled.expand(groups, labels, budget));
}

void compare(const std::string& regex, const std::string& text, const std::string& replacement) {
    try {
        const Pattern fast(regex);
        const Pattern slow(regex, Pattern::Anchors::both, Pattern::Engine::re2);
        if (expand(fast, text, replacement) != expand(slow, text, replacement)) std::abort();
    } catch (const std::invalid_argument&) {
    }
}

void relabel(RelabelAction action, const std::string& regex, const std::string& text,
             const std::string& replacement) {
    try {
        const Relabeler relabeler(std::vector<RelabelRule>{{.action = action,
                                                            .source_labels = {"a"},
                                                            .regex = regex,
                                                            .target_label = "t",
                                                            .replacement = replacement}});
        MutableLabels labels;
        labels.set(text, "v");
        labels.set("a", text);
        relabeler.explain(labels);
    } catch (const ConfigError&) {
    }
}

void select(const std::string& selector) {
    try {
        MutableLabels labels;
        const RelabelLimits limits;
        PatternBudget patterns(limits);
        RelabelBudget budget(limits);
        (void)SeriesSelector(selector, patterns).matches(labels, budget);
    } catch (const std::invalid_argument&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::string regex = take_line(bytes);
    const std::string text = take_line(bytes);
    const std::string replacement(bytes);
    compare(regex, text, replacement);
    for (const RelabelAction action : {RelabelAction::replace, RelabelAction::replace_all,
                                       RelabelAction::labelmap, RelabelAction::labelmap_all}) {
        relabel(action, regex, text, replacement);
    }
    select(text);
    return 0;
}
