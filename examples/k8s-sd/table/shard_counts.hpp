#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"
#include "table/json_writer.hpp"
#include "table/target_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

/// How the active targets are divided into shards, and what another number of shards would change.
class ShardCounts {
 public:
    /// \param replicas  shards that have each target
    /// \param to        another number of shards
    ShardCounts(unsigned shards, unsigned replicas, std::optional<unsigned> to);

    void add(const TargetRow&, const std::string& job);
    /// As JSON.
    std::string text() const;

 private:
    /// One way to divide them.
    struct Way {
        explicit Way(unsigned shards);

        std::vector<std::size_t> owners(std::uint64_t key, unsigned replicas) const;
        void write(JsonWriter&, std::size_t on_all) const;

        k8s_sd::FleetView view;
        std::vector<std::size_t> targets;  ///< of each member of the view
    };

    const unsigned replicas_;
    Way now_;
    std::optional<Way> then_;
    std::size_t total_ = 0, on_all_ = 0, moved_ = 0;
};

}  // namespace bridge
