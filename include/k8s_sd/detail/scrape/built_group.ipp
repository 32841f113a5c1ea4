#include "k8s_sd/detail/scrape/built_group.hpp"

#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

BuiltGroup::BuiltGroup(TargetBuilder& builder, const TargetGroupPtr& group) : group_(group) {
    Outcomes outcomes;
    for (std::uint32_t i = 0; i < group->size(); ++i) {
        BuiltTarget built = builder.build(group, i);
        if (auto* target = std::get_if<ScrapeTargetPtr>(&built)) {
            outcomes.targets.push_back(std::move(*target));
        } else if (const auto* reason = std::get_if<DropReason>(&built)) {
            outcomes.dropped.push_back({i, *reason});
            dropped_by_rules_ += *reason == DropReason::relabelling ? 1 : 0;
        } else {
            outcomes.failed.push_back({i, std::move(std::get<TargetError>(built).message)});
        }
    }
    if (dropped_by_rules_ < group->size()) {
        outcomes_ = std::make_unique<Outcomes>(std::move(outcomes));
    }
}

}  // namespace k8s_sd::inline v0::detail
