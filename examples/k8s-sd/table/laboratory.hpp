#pragma once

#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "table/json_writer.hpp"
#include "table/row_reader.hpp"
#include "table/target_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace bridge {

/// What other rules would make of the targets of a job. It changes nothing. Not thread-safe.
class Laboratory {
 public:
    /// \throws k8s_sd::ConfigError for rules that cannot be used
    explicit Laboratory(k8s_sd::ScrapeConfig with_rules) : builder_(std::move(with_rules)) {}

    /// What becomes of one target.
    void try_on(const TargetRow& row) { explanation_ = builder_.explain(*row.group, row.index); }
    void try_on(const k8s_sd::LabelMap& labels) { explanation_ = builder_.explain(labels); }
    /// What becomes of more of all targets, as long as there is time. \returns whether there are
    /// more
    bool try_on_all(const TargetTable&, const GoesOn& has_time);
    /// There is no time for the rest.
    void give_up() noexcept { given_up_ = true; }

    /// As JSON.
    std::string text() const;

 private:
    enum Effect : std::uint8_t { gained, lost, changed };
    static constexpr std::array<const char*, 3> effect_names{"gained", "lost", "changed"};
    /// What rows with one scraped target, or that would have it, have on the other side.
    struct Side {
        bool none = true;   ///< no row has a target
        bool same = false;  ///< a row has the same target
    };
    /// Of targets, which several rows can have, by their hashes.
    using Sides = std::unordered_map<std::uint64_t, Side>;
    struct Example {
        std::uint64_t hash;
        std::string row;  ///< as JSON
    };

    void compare(const TargetTable&, const TargetRow&);
    void add_example(Effect, std::uint64_t hash, const TargetTable&, const TargetRow&,
                     const k8s_sd::BuiltTarget& after);
    bool has(Effect, std::uint64_t hash) const;
    std::size_t total(Effect) const;
    void write_effect(JsonWriter&) const;
    void write_outcome(JsonWriter&) const;

    k8s_sd::TargetBuilder builder_;
    std::optional<k8s_sd::TargetExplanation> explanation_{};
    bool measured_ = false, given_up_ = false;
    RowReader reader_{};
    Sides before_{}, after_{};
    std::array<std::vector<Example>, effect_names.size()> examples_{};
};

}  // namespace bridge
