#pragma once

#include "event.hpp"
#include "k8s_sd/target_group.hpp"

#include <utility>

namespace k8s_sd_c {

/// Changed target groups.
class GroupEvent final : public Event {
 public:
    GroupEvent(WatchIdentity watch, k8s_sd::TargetGroupDiff diff)
        : Event(K8S_SD_GROUPS, watch, diff.full, diff.more), diff_(std::move(diff)) {}

    std::size_t size() const noexcept override {
        return diff_.updated.size() + diff_.removed.size();
    }
    k8s_sd_op op(std::size_t change) const override;
    std::string_view key(std::size_t change) override { return group(change).source(); }
    std::size_t targets(std::size_t change) const override {
        return is_removed(change) ? 0 : group(change).size();
    }
    std::size_t pairs(std::size_t change, std::int64_t set, std::span<k8s_sd_pair>) const override;
    std::optional<std::string_view> value(std::size_t change, std::int64_t set,
                                          std::string_view name) const override;

 private:
    void write_change(JsonWriter&, std::size_t change) override;
    bool is_removed(std::size_t change) const noexcept { return change >= diff_.updated.size(); }
    const k8s_sd::TargetGroup& group(std::size_t change) const noexcept {
        return is_removed(change) ? *diff_.removed[change - diff_.updated.size()]
                                  : *diff_.updated[change].group;
    }
    std::optional<k8s_sd::Labels> labels(std::size_t change, std::int64_t set) const;

    const k8s_sd::TargetGroupDiff diff_;
};

}  // namespace k8s_sd_c
