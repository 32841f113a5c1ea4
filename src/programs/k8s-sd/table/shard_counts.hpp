#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"
#include "table/json_writer.hpp"
#include "table/target_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// The division of active targets into shards, and the effect of another number of shards.
class ShardCounts {
 public:
    /// \param replicas  the number of shards with each target
    /// \param to        another number of shards, for comparison
    ShardCounts(unsigned shards, unsigned replicas, std::optional<unsigned> to);

    void add(const TargetRow&, const std::string& job);
    /// The result as JSON.
    std::string text() const;

 private:
    /// One division into shards.
    struct Way {
        explicit Way(unsigned shards);

        std::vector<std::size_t> owners(std::uint64_t key, unsigned replicas) const;
        void write(JsonWriter&, std::size_t on_all) const;

        k8s_sd::FleetView view;
        std::vector<std::size_t> targets;  ///< by member of the view
    };

    const unsigned replicas_;
    Way now_;
    std::optional<Way> then_;
    std::size_t total_ = 0, on_all_ = 0, moved_ = 0;
};

}  // namespace k8s_sd_program
