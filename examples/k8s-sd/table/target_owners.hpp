#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"
#include "lists/collectors.hpp"
#include "table/json_writer.hpp"
#include "table/target_table.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The collectors that have an active target; none: nobody scrapes it. The views are into the view.
std::vector<std::string_view> collectors_of(const TargetRow&, const AllocationView&);

/// Says of active targets who has them: shards, as somebody divides them, and collectors.
class TargetOwners {
 public:
    TargetOwners() = default;  ///< says nothing

    void divide(unsigned shards, unsigned replicas);
    /// \param view  null: it is not known yet who the collectors are
    void allocate(AllocationViewPtr view) {
        collectors_ = std::move(view);
        allocates_ = true;
    }

    /// Writes `owners` and `collectors`, as far as they are asked for.
    void write(JsonWriter&, const TargetRow&, const std::string& job) const;

 private:
    std::optional<k8s_sd::FleetView> shards_{};
    unsigned replicas_ = 1;
    bool allocates_ = false;
    AllocationViewPtr collectors_{};
};

/// The names of so many shards, as the lists call them.
std::vector<std::string> shard_names(unsigned shards);

}  // namespace bridge
