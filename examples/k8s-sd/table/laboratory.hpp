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
#include <unordered_set>

namespace bridge {

/// What other rules would make of the targets of a job. It changes nothing. Not thread-safe.
class Laboratory {
 public:
    /// \throws k8s_sd::ConfigError for rules that cannot be used
    explicit Laboratory(k8s_sd::ScrapeConfig with_rules) : builder_(std::move(with_rules)) {}

    /// What becomes of one target.
    void try_on(const TargetRow& row) { explanation_ = builder_.explain(*row.group, row.index); }
    void try_on(const k8s_sd::LabelMap& labels) { explanation_ = builder_.explain(labels); }
    /// What becomes of so many more of all targets. \returns whether there are more
    bool try_on_all(const TargetTable&, std::size_t rows);
    /// There is no time for the rest.
    void give_up() noexcept { given_up_ = true; }

    /// As JSON.
    std::string text() const;

 private:
    enum Effect : std::uint8_t { gained, lost, changed };
    static constexpr std::array<const char*, 3> effect_names{"gained", "lost", "changed"};
    struct Rows {
        std::size_t total = 0;
        std::string examples{};
    };

    void compare(const TargetTable&, const TargetRow&);
    void add(Effect, const TargetTable&, const TargetRow&);
    void write_effect(JsonWriter&) const;
    void write_outcome(JsonWriter&) const;

    k8s_sd::TargetBuilder builder_;
    std::optional<k8s_sd::TargetExplanation> explanation_{};
    bool measured_ = false, given_up_ = false;
    RowReader reader_{};
    std::size_t active_before_ = 0;
    std::unordered_set<std::uint64_t> active_after_{};  ///< hashes of targets
    std::array<Rows, effect_names.size()> effects_{};
};

}  // namespace bridge
