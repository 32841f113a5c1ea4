#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"
#include "lists/collectors.hpp"
#include "table/json_writer.hpp"
#include "table/target_table.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// The collectors with an active target; empty: it is not scraped. The names refer to the view.
std::vector<std::string_view> collectors_of(const TargetRow&, const AllocationView&);

/// The owners of active targets: shards, for a requested division, and collectors.
class TargetOwners {
 public:
    TargetOwners() = default;  ///< writes nothing

    void divide(unsigned shards, unsigned replicas);
    /// \param view  null: the collectors are unknown so far
    void allocate(AllocationViewPtr view) {
        collectors_ = std::move(view);
        allocates_ = true;
    }

    /// Writes `owners` and `collectors` if requested.
    void write(JsonWriter&, const TargetRow&, const std::string& job) const;

 private:
    std::optional<k8s_sd::FleetView> shards_{};
    unsigned replicas_ = 1;
    bool allocates_ = false;
    AllocationViewPtr collectors_{};
};

/// The names of so many shards, as in the lists.
std::vector<std::string> shard_names(unsigned shards);

}  // namespace k8s_sd_program
