#include "k8s_sd/detail/base/immortal.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

class Relabeler::Impl {
 public:
    Impl(std::vector<RelabelRule> all, const RelabelOptions& options) : rules(std::move(all)) {
        compiled.reserve(rules.size());
        for (const RelabelRule& rule : rules) {
            try {
                compiled.emplace_back(rule, options);
            } catch (const ConfigError& e) {
                const std::string index = std::to_string(compiled.size());
                throw ConfigError("relabel_configs[" + index + "]." + e.where(), e.problem());
            }
        }
    }

    const std::vector<RelabelRule> rules;
    std::vector<detail::CompiledRule> compiled;
};

Relabeler::Relabeler(std::vector<RelabelRule> rules, RelabelOptions options)
    : impl_(std::make_shared<const Impl>(std::move(rules), options)) {}

bool Relabeler::apply(MutableLabels& labels) const {
    if (impl_) {
        for (const detail::CompiledRule& rule : impl_->compiled) {
            if (!rule.apply(labels)) return false;
        }
    }
    labels.erase_empty();
    return true;
}

std::vector<RelabelStep> Relabeler::explain(MutableLabels& labels) const {
    std::vector<RelabelStep> steps;
    if (impl_) {
        for (const detail::CompiledRule& rule : impl_->compiled) {
            steps.push_back(rule.explain(labels));
            steps.back().rule = steps.size() - 1;
            if (steps.back().dropped) return steps;
        }
    }
    labels.erase_empty();
    return steps;
}

const std::vector<RelabelRule>& Relabeler::rules() const noexcept {
    static const detail::Immortal<const std::vector<RelabelRule>> none;
    return impl_ ? impl_->rules : *none;
}

}  // namespace k8s_sd::inline v0
