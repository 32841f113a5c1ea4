#pragma once

#include "event.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"

#include <string>
#include <utility>
#include <vector>

namespace k8s_sd_c {

/// A change of one scrape target.
struct TargetChange {
    k8s_sd_op op;
    k8s_sd::TargetId id;
    k8s_sd::ScrapeTargetPtr target;
};

/// Changes of scrape targets.
struct TargetChanges {
    std::vector<TargetChange> changes;
    bool more = false;  ///< further ones follow
};

/// Changed scrape targets of one job.
class TargetEvent final : public Event {
 public:
    TargetEvent(WatchIdentity watch, bool full, std::string job, TargetChanges changes)
        : Event(K8S_SD_TARGETS, watch, full, changes.more),
          job_(std::move(job)),
          changes_(std::move(changes.changes)) {}

    std::string_view job() const noexcept override { return job_; }
    std::size_t size() const noexcept override { return changes_.size(); }
    k8s_sd_op op(std::size_t change) const override { return changes_[change].op; }
    std::string_view key(std::size_t change) override;
    std::size_t pairs(std::size_t change, std::int64_t set, std::span<k8s_sd_pair>) const override;
    std::optional<std::string_view> value(std::size_t change, std::int64_t set,
                                          std::string_view name) const override;
    std::string_view url(std::size_t change) override;
    std::uint64_t interval_ms(std::size_t change) const override;
    std::uint64_t timeout_ms(std::size_t change) const override;

 private:
    void write_change(JsonWriter&, std::size_t change) override;
    void write_members(JsonWriter& out) override { out.member("job", job_); }
    const k8s_sd::ScrapeTarget& target(std::size_t change) const {
        return *changes_[change].target;
    }

    const std::string job_;
    const std::vector<TargetChange> changes_;
};

}  // namespace k8s_sd_c
