#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/detail/scrape/built_group.hpp"
#include "k8s_sd/detail/scrape/target_packer.hpp"

#include <optional>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

/// What became of the targets of an earlier version of a group. Asked in the order of targets.
class BuiltGroup::Earlier {
 public:
    Earlier(const BuiltGroup* built, const TargetGroup& now)
        : built_(built && built->group_->labels() == now.labels() ? built : nullptr) {}

    /// Nothing for a target that was another one then.
    std::optional<BuiltTarget> at(std::uint32_t index, const TargetGroupPtr& now) {
        if (!built_ || index >= built_->group_->size()) return std::nullopt;
        if ((*built_->group_)[index] != (*now)[index]) return std::nullopt;
        const auto targets = built_->targets();
        while (target_ < targets.size() && targets[target_]->index() < index) ++target_;
        if (target_ < targets.size() && targets[target_]->index() == index) {
            return TargetPacker::repack(*targets[target_], now, index);
        }
        if (!built_->outcomes_) return DropReason::relabelling;
        const auto& [kept, dropped, failed] = *built_->outcomes_;
        while (dropped_ < dropped.size() && dropped[dropped_].index < index) ++dropped_;
        if (dropped_ < dropped.size() && dropped[dropped_].index == index) {
            return dropped[dropped_].reason;
        }
        while (failed_ < failed.size() && failed[failed_].index < index) ++failed_;
        return TargetError{failed[failed_].message};
    }

 private:
    const BuiltGroup* built_;
    std::size_t target_ = 0, dropped_ = 0, failed_ = 0;
};

BuiltGroup::BuiltGroup(TargetBuilder& builder, const TargetGroupPtr& group,
                       const BuiltGroup* earlier)
    : group_(group) {
    Earlier known(earlier, *group);
    Outcomes outcomes;
    std::size_t dropped_by_rules = 0;
    for (std::uint32_t i = 0; i < group->size(); ++i) {
        std::optional<BuiltTarget> as_before = known.at(i, group);
        BuiltTarget built = as_before ? *std::move(as_before) : builder.build(group, i);
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
