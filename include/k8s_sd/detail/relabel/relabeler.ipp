#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

class Relabeler::Impl {
 public:
    Impl(Rules all, const RelabelOptions& options) : rules(std::move(all)), limits(options.limits) {
        detail::PatternBudget patterns(limits);
        compiled = detail::shared_rules(*rules, options, patterns);
    }

    const Rules rules;
    const RelabelLimits limits;
    std::vector<detail::SharedRulePtr> compiled;
};

Relabeler::Relabeler(RelabelRules rules, RelabelOptions options)
    : Relabeler(std::make_shared<const RelabelRules>(std::move(rules)), options) {}

Relabeler::Relabeler(Rules rules, const RelabelOptions& options)
    : impl_(std::make_shared<const Impl>(std::move(rules), options)) {}

bool Relabeler::apply(MutableLabels& labels) const {
    if (impl_) {
        detail::RelabelBudget budget(impl_->limits);
        const std::vector<detail::SharedRulePtr>& compiled = impl_->compiled;
        std::size_t at = 0;
        constexpr std::size_t few_rules = 4;
        if (compiled.size() > few_rules) labels.index_names();
        try {
            for (; at < compiled.size(); ++at) {
                if (!compiled[at]->compiled().apply(labels, budget)) return false;
            }
        } catch (const detail::RelabelLimitReached& e) {
            throw RelabelError(at, e.what());
        }
    }
    labels.erase_empty();
    return true;
}

std::vector<RelabelStep> Relabeler::explain(MutableLabels& labels) const {
    std::vector<RelabelStep> steps;
    if (impl_) {
        detail::RelabelBudget budget(impl_->limits);
        detail::RelabelBudget account(impl_->limits);
        for (const detail::SharedRulePtr& rule : impl_->compiled) {
            RelabelStep& step = steps.emplace_back();
            try {
                step = rule->compiled().explain(labels, budget, account);
            } catch (const detail::RelabelLimitReached& e) {
                step.reason = e.what();
                step.refused = true;
            }
            step.rule = steps.size() - 1;
            if (step.dropped || step.refused) return steps;
        }
    }
    labels.erase_empty();
    return steps;
}

const RelabelRules& Relabeler::rules() const noexcept {
    static const detail::Immortal<const RelabelRules> none;
    return impl_ ? *impl_->rules : *none;
}

}  // namespace k8s_sd::inline v0
