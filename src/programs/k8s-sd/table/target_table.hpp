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

namespace k8s_sd_program {

/// The outcome for a discovered target.
enum class TargetState : std::uint8_t {
    active,     ///< scraped
    dropped,    ///< by a rule
    failed,     ///< cannot be scraped
    duplicate,  ///< equal to an active target
};
inline constexpr std::size_t target_state_count = 4;  ///< number of values of TargetState

/// The name of the enumerator.
constexpr std::string_view to_string(TargetState state) noexcept {
    constexpr std::string_view names[target_state_count] = {"active", "dropped", "failed",
                                                            "duplicate"};
    return names[static_cast<std::size_t>(state)];
}

/// The position of a target in the order of its job's targets, independent of other targets.
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
    std::uint32_t rule = no_rule;  ///< the rule dropping the target
    std::uint64_t id = 0;          ///< a hash of the job and the discovered labels
    TargetState state = TargetState::dropped;
    std::string_view address{};              ///< as discovered
    std::string_view ns{};                   ///< its namespace
    std::string_view node{};                 ///< its node
    k8s_sd::ScrapeTargetPtr target{};        ///< of active targets and duplicates
    std::unique_ptr<std::string> failure{};  ///< the error of a failed target
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

/// The numbers of targets, by outcome.
struct RowCounts {
    std::array<std::size_t, target_state_count> by_state{};
    std::vector<std::size_t> by_rule{};  ///< of dropped targets

    std::size_t of(TargetState state) const { return by_state[static_cast<std::size_t>(state)]; }
};

/// All discovered targets of a job, in a fixed order, with the outcome of each. Built in slices;
/// follows changes at once. Not thread-safe; no I/O.
class TargetTable {
 public:
    using Groups = std::vector<std::pair<k8s_sd::ProviderId, k8s_sd::TargetGroupPtr>>;
    using Order = boost::intrusive::multiset<
        TargetRow,
        boost::intrusive::base_hook<boost::intrusive::set_base_hook<
            boost::intrusive::tag<InOrder>, boost::intrusive::optimize_size<true>>>,
        boost::intrusive::compare<OrderOfRows>>;

    /// \param builder  of the job, with unchanged rules; outlives the table
    /// \param groups   the present ones; advance() reads them
    TargetTable(k8s_sd::TargetBuilder& builder, Groups groups);
    TargetTable(const TargetTable&) = delete;
    TargetTable& operator=(const TargetTable&) = delete;

    /// Reads at most so many targets. \returns whether all have been read
    bool advance(std::size_t targets);
    bool complete() const noexcept { return unread_.empty(); }
    std::size_t unread_groups() const noexcept { return unread_.size(); }

    /// The limit for updating a changed group at once; advance() reads larger ones.
    static constexpr std::size_t max_at_once = 1000;

    /// Adds or updates a group.
    void put(k8s_sd::ProviderId, const k8s_sd::TargetGroupPtr&);
    /// The same, and advance() reads it: for any number of groups.
    void put_later(k8s_sd::ProviderId, const k8s_sd::TargetGroupPtr&);
    void remove(k8s_sd::ProviderId, std::string_view source);

    const Order& rows() const noexcept { return order_; }
    /// The first row at or after the position.
    Order::const_iterator from(const TargetPosition&) const;
    /// Null if no target has this id.
    const TargetRow* find(std::uint64_t id) const;
    const RowCounts& counts() const noexcept { return counts_; }
    const k8s_sd::ScrapeConfig& config() const noexcept { return builder_.config(); }
    k8s_sd::TargetBuilder& builder() const noexcept { return builder_; }
    /// Why the target is not scraped, in words; empty for an active one. Equal reasons have equal
    /// words.
    std::string_view reason(const TargetRow&) const;
    /// The rule dropping the target, in words; empty if none did.
    std::string_view rule_text(const TargetRow&) const;

 private:
    using Key = std::pair<k8s_sd::ProviderId, std::string_view>;
    struct Group {
        k8s_sd::TargetGroupPtr group;
        std::vector<TargetRow> rows;  ///< one for each target of the group
        std::size_t built = 0;        ///< the number of completed rows, at the start
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
    std::map<Key, k8s_sd::TargetGroupPtr> unread_;  ///< or partly read
    std::map<Key, Group> groups_;
    Order order_;  // declared after the rows, so destroyed before them
    Same same_;    // likewise; contains rows with a target
};

/// See TargetRow::id. \param labels  the result of discovered_labels()
std::uint64_t target_id(std::string_view job, std::span<const LabelView> labels);
/// In 16 hexadecimal digits.
std::string id_text(std::uint64_t id);
/// Parses id_text(); 0, never a valid id, for malformed text.
std::uint64_t read_id(std::string_view text);

}  // namespace k8s_sd_program
