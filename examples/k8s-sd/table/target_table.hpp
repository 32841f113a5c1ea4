#pragma once

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/target_group.hpp"
#include "lists/listed_target.hpp"
#include "table/dropping_rule.hpp"

#include <boost/intrusive/set.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// What has become of a discovered target.
enum class TargetState : std::uint8_t {
    active,     ///< it is scraped
    dropped,    ///< by a rule
    failed,     ///< it cannot be scraped
    duplicate,  ///< it would be the same as another one that is active
};
inline constexpr std::size_t target_state_count = 4;  ///< number of values of TargetState

/// The name of the enumerator.
constexpr std::string_view to_string(TargetState state) noexcept {
    constexpr std::string_view names[target_state_count] = {"active", "dropped", "failed",
                                                            "duplicate"};
    return names[static_cast<std::size_t>(state)];
}

/// Where a target stands in the order of a job's targets, which no change of others moves.
struct TargetPosition {
    std::string address{};
    std::uint64_t id = 0;
};

/// One discovered target. The views are into its group.
struct TargetRow : boost::intrusive::set_base_hook<boost::intrusive::tag<struct InOrder>,
                                                   boost::intrusive::optimize_size<true>>,
                   boost::intrusive::set_base_hook<boost::intrusive::tag<struct BySameness>,
                                                   boost::intrusive::optimize_size<true>> {
    static constexpr std::uint32_t no_rule = std::numeric_limits<std::uint32_t>::max();

    const k8s_sd::TargetGroup* group = nullptr;
    std::uint32_t index = 0;       ///< in the group
    std::uint32_t rule = no_rule;  ///< that dropped it
    std::uint64_t id = 0;          ///< a hash of the job and the discovered labels
    TargetState state = TargetState::dropped;
    std::string_view address{};              ///< as discovered
    std::string_view ns{};                   ///< its namespace
    std::string_view node{};                 ///< on which it runs
    k8s_sd::ScrapeTargetPtr target{};        ///< of active ones and duplicates
    std::unique_ptr<std::string> failure{};  ///< of failed ones: what is wrong
};

/// By address, then by id.
struct OrderOfRows {
    bool operator()(const TargetRow& a, const TargetRow& b) const noexcept {
        return before(a.address, a.id, b.address, b.id);
    }
    bool operator()(const TargetRow& a, const TargetPosition& b) const noexcept {
        return before(a.address, a.id, b.address, b.id);
    }
    bool operator()(const TargetPosition& a, const TargetRow& b) const noexcept {
        return before(a.address, a.id, b.address, b.id);
    }

 private:
    static bool before(std::string_view a, std::uint64_t a_id, std::string_view b,
                       std::uint64_t b_id) noexcept {
        const int order = a.compare(b);
        return order != 0 ? order < 0 : a_id < b_id;
    }
};

/// How many targets there are, by what became of them.
struct RowCounts {
    std::array<std::size_t, target_state_count> by_state{};
    std::vector<std::size_t> by_rule{};  ///< dropped ones

    std::size_t of(TargetState state) const { return by_state[static_cast<std::size_t>(state)]; }
};

/// All discovered targets of a job, in an order of their own, and what became of each. It is made
/// in slices, and follows changes at once. Not thread-safe; no I/O.
class TargetTable {
 public:
    using Groups = std::vector<std::pair<k8s_sd::ProviderId, k8s_sd::TargetGroupPtr>>;
    using Order = boost::intrusive::multiset<
        TargetRow,
        boost::intrusive::base_hook<boost::intrusive::set_base_hook<
            boost::intrusive::tag<InOrder>, boost::intrusive::optimize_size<true>>>,
        boost::intrusive::compare<OrderOfRows>>;

    /// \param builder  of the job, with the same rules until the end; outlives it
    /// \param groups   that there are now: advance() reads them
    TargetTable(k8s_sd::TargetBuilder& builder, Groups groups);
    TargetTable(const TargetTable&) = delete;
    TargetTable& operator=(const TargetTable&) = delete;

    /// Reads so many targets at most. \returns whether all have been read
    bool advance(std::size_t targets);
    bool complete() const noexcept { return unread_.empty(); }
    std::size_t unread_groups() const noexcept { return unread_.size(); }

    /// A larger group that changes is read by advance().
    static constexpr std::size_t most_at_once = 1000;

    /// The group is new, or has changed.
    void put(k8s_sd::ProviderId, const k8s_sd::TargetGroupPtr&);
    void remove(k8s_sd::ProviderId, std::string_view source);

    const Order& rows() const noexcept { return order_; }
    /// The first row at the position or behind it.
    Order::const_iterator from(const TargetPosition&) const;
    /// Null if no target has this id.
    const TargetRow* find(std::uint64_t id) const;
    const RowCounts& counts() const noexcept { return counts_; }
    const k8s_sd::ScrapeConfig& config() const noexcept { return builder_.config(); }
    k8s_sd::TargetBuilder& builder() const noexcept { return builder_; }
    /// Why it is not scraped, in words; empty for an active one. Targets have the same words if
    /// they have the same reason.
    std::string_view reason(const TargetRow&) const;
    /// The rule that dropped it, in words; empty if none did.
    std::string_view rule_text(const TargetRow&) const;

 private:
    using Key = std::pair<k8s_sd::ProviderId, std::string_view>;
    struct Group {
        k8s_sd::TargetGroupPtr group;
        std::vector<TargetRow> rows;  ///< as many as the group has
        std::size_t built = 0;        ///< of them; the first ones
    };
    struct Sameness {
        bool operator()(const TargetRow& a, const TargetRow& b) const noexcept;
    };
    using Same = boost::intrusive::multiset<
        TargetRow,
        boost::intrusive::base_hook<boost::intrusive::set_base_hook<
            boost::intrusive::tag<BySameness>, boost::intrusive::optimize_size<true>>>,
        boost::intrusive::compare<Sameness>>;

    std::size_t read(k8s_sd::ProviderId, const k8s_sd::TargetGroupPtr&, std::size_t targets);
    void build(TargetRow&, const k8s_sd::TargetGroupPtr&);
    void add_same(TargetRow&);
    void remove_same(TargetRow&);
    void count(const TargetRow&, bool more);
    void set_state(TargetRow&, TargetState);

    k8s_sd::TargetBuilder& builder_;
    DroppingRule dropping_;
    std::vector<std::string> rule_texts_, rule_reasons_;
    RowCounts counts_;
    std::map<Key, k8s_sd::TargetGroupPtr> unread_;  ///< or read in part
    std::map<Key, Group> groups_;
    Order order_;  // ends before the rows
    Same same_;    // the same; of rows with a target
};

/// See TargetRow::id. \param labels  as discovered_labels() gives them
std::uint64_t target_id(std::string_view job, std::span<const LabelView> labels);
/// In 16 hexadecimal digits.
std::string id_text(std::uint64_t id);
/// The same, read; 0, which is no id, where it is none.
std::uint64_t read_id(std::string_view text);

}  // namespace bridge
