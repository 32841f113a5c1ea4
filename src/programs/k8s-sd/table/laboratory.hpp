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

namespace k8s_sd_program {

/// The limits for rules sent by a client, see RelabelLimits. Values may be as long as in a job.
inline constexpr k8s_sd::RelabelLimits tried_limits{.regex_bytes = std::size_t{256} << 10,
                                                    .instructions = std::size_t{32} << 10,
                                                    .made_bytes = std::size_t{4} << 20,
                                                    .regex_steps = 100'000'000};

/// The limits for the rules of a job; these are already compiled.
inline constexpr k8s_sd::RelabelLimits own_rules_limits{.made_bytes = tried_limits.made_bytes,
                                                        .regex_steps = tried_limits.regex_steps};

/// Reads a list of rules in YAML, within the limits. Can take a tenth of a second.
/// \param config  of the job; the rules replace its own
/// \throws k8s_sd::ConfigError, BadRequest
std::vector<k8s_sd::RelabelRule> read_tried_rules(std::string_view yaml,
                                                  const k8s_sd::ScrapeConfig& config);

/// A copy of a target in a job's table, for other threads.
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

/// Shows the effect of other rules on the targets of a job, without changing anything. Rules may be
/// slow: the table is only read to take targets, so that another thread can try the rules on them.
/// Not thread-safe.
class Laboratory {
 public:
    /// \throws k8s_sd::ConfigError for unusable rules
    explicit Laboratory(k8s_sd::ScrapeConfig with_rules,
                        const k8s_sd::RelabelLimits& limits = tried_limits)
        : builder_(std::move(with_rules), {}, limits) {}

    /// Tries the rules on one target.
    void try_on(const TakenTarget& target) {
        explanation_ = builder_.explain(*target.group, target.index);
    }
    void try_on(const k8s_sd::LabelMap& labels) { explanation_ = builder_.explain(labels); }

    /// Takes more of all targets, at most a few thousand, as long as there is time.
    /// \returns whether some remain
    bool take(const TargetTable&, const GoesOn& has_time);
    /// Tries the taken targets as long as there is time.
    /// \returns whether some remain
    bool try_on_taken(const GoesOn& has_time);
    /// Skips the rest, for lack of time.
    void give_up() noexcept { given_up_ = true; }
    /// Called last: reads the rows of the examples, and drops removed ones.
    void read_examples(const TargetTable&);

    /// The result as JSON.
    std::string text() const;

 private:
    enum Effect : std::uint8_t { gained, lost, changed };
    static constexpr std::array<const char*, 3> effect_names{"gained", "lost", "changed"};
    /// The other side of the rows with this scraped target, before or after the change.
    struct Side {
        bool none = true;   ///< no row has a target
        bool same = false;  ///< a row has the same target
    };
    /// By the hash of a target; several rows can make the same one.
    using Sides = std::unordered_map<std::uint64_t, Side>;
    struct Example {
        std::uint64_t hash;
        TakenTarget target;
        std::string outcome;  ///< members of an object, as JSON
        std::string row{};    ///< an object, as JSON; empty: removed
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
    std::size_t tried_ = 0;  ///< number of these already tried
    Sides before_{}, after_{};
    std::array<std::vector<Example>, effect_names.size()> examples_{};
};

}  // namespace k8s_sd_program
