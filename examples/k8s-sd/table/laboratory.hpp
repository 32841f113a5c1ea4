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
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bridge {

/// What rules of a client's choosing may cost: see RelabelLimits. Values may be as long as in a
/// job.
inline constexpr k8s_sd::RelabelLimits tried_limits{.regex_bytes = std::size_t{256} << 10,
                                                    .instructions = std::size_t{32} << 10,
                                                    .made_bytes = std::size_t{4} << 20,
                                                    .regex_steps = 100'000'000};

/// The same for the rules of a job, which are compiled already.
inline constexpr k8s_sd::RelabelLimits own_rules_limits{.made_bytes = tried_limits.made_bytes,
                                                        .regex_steps = tried_limits.regex_steps};

/// A list of rules as YAML, within the limits. Can take a tenth of a second.
/// \param config  of the job whose rules they take the place of
/// \throws k8s_sd::ConfigError, BadRequest
std::vector<k8s_sd::RelabelRule> read_tried_rules(std::string_view yaml,
                                                  const k8s_sd::ScrapeConfig& config);

/// A target of a job's table, for other threads.
struct TakenTarget {
    explicit TakenTarget(const TargetRow& row)
        : group(row.group),
          index(row.index),
          id(row.id),
          state(row.state),
          address(row.address),
          target(row.target) {}

    k8s_sd::TargetGroupPtr group;
    std::uint32_t index;
    std::uint64_t id;
    TargetState state;
    std::string_view address;  ///< in the group
    k8s_sd::ScrapeTargetPtr target;
};

/// What other rules would make of the targets of a job. It changes nothing.
/// Rules may be slow: the table is only read to take targets, so that they can be tried on in
/// another thread. Not thread-safe.
class Laboratory {
 public:
    /// \throws k8s_sd::ConfigError for rules that cannot be used
    explicit Laboratory(k8s_sd::ScrapeConfig with_rules,
                        const k8s_sd::RelabelLimits& limits = tried_limits)
        : builder_(std::move(with_rules), {}, limits) {}

    /// What becomes of one target.
    void try_on(const TakenTarget& target) {
        explanation_ = builder_.explain(*target.group, target.index);
    }
    void try_on(const k8s_sd::LabelMap& labels) { explanation_ = builder_.explain(labels); }

    /// Takes more of all targets, a few thousand at most, as long as there is time.
    /// \returns whether there are more
    bool take(const TargetTable&, const GoesOn& has_time);
    /// What becomes of those that were taken, as long as there is time.
    /// \returns whether there are more of them
    bool try_on_taken(const GoesOn& has_time);
    /// There is no time for the rest.
    void give_up() noexcept { given_up_ = true; }
    /// Behind all: reads the rows of the examples, and forgets those that are gone.
    void read_examples(const TargetTable&);

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
        TakenTarget target;
        std::string outcome;  ///< members of an object, as JSON
        std::string row{};    ///< an object, as JSON; empty: it is gone
    };

    void compare(const TakenTarget&);
    void add_example(Effect, std::uint64_t hash, const TakenTarget&,
                     const k8s_sd::BuiltTarget& after);
    bool has(Effect, std::uint64_t hash) const;
    std::size_t total(Effect) const;
    void write_effect(JsonWriter&) const;
    void write_outcome(JsonWriter&) const;

    k8s_sd::TargetBuilder builder_;
    std::optional<k8s_sd::TargetExplanation> explanation_{};
    bool measured_ = false, given_up_ = false;
    RowReader reader_{};
    std::vector<TakenTarget> taken_{};
    std::size_t tried_ = 0;  ///< of these
    Sides before_{}, after_{};
    std::array<std::vector<Example>, effect_names.size()> examples_{};
};

}  // namespace bridge
