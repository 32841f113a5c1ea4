#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/detail/scrape/built_group.hpp"

#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

BuiltGroup::BuiltGroup(TargetBuilder& builder, const TargetGroupPtr& group) : group_(group) {
    Outcomes outcomes;
    std::size_t dropped_by_rules = 0;
    for (std::uint32_t i = 0; i < group->size(); ++i) {
        BuiltTarget built = builder.build(group, i);
        if (auto* target = std::get_if<ScrapeTargetPtr>(&built)) {
            outcomes.targets.push_back(std::move(*target));
        } else if (const auto* reason = std::get_if<DropReason>(&built)) {
            outcomes.dropped.push_back({i, *reason});
            dropped_by_rules += *reason == DropReason::relabelling ? 1 : 0;
        } else {
            outcomes.failed.push_back({i, std::move(std::get<TargetError>(built).message)});
        }
    }
    const std::size_t others = group->size() - dropped_by_rules;
    if (others == outcomes.targets.size() && others <= 1) {
        if (others == 1) only_ = std::move(outcomes.targets.front());
        return;
    }
    outcomes.targets.shrink_to_fit();
    outcomes.dropped.shrink_to_fit();
    outcomes_ = std::make_unique<Outcomes>(std::move(outcomes));
}

std::size_t GroupHash::operator()(std::string_view source) const noexcept {
    return SeededHash{}(source);
}

}  // namespace k8s_sd::inline v0::detail
