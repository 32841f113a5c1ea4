#pragma once

#include "lists/collectors.hpp"
#include "lists/list_content.hpp"
#include "lists/listed_target.hpp"
#include "support/http_message.hpp"

#include <compare>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {
class FleetView;
}  // namespace k8s_sd::inline v0

namespace bridge {

/// What a reader asks for cannot be answered; the text says what is allowed.
class BadRequest : public std::invalid_argument {
 public:
    using std::invalid_argument::invalid_argument;
};

/// A way to divide the targets of a list into parts.
struct Division {
    unsigned shards = 0;    ///< by their share keys, into so many; 0: not at all
    unsigned replicas = 1;  ///< shards that have each target
    bool by_node = false;   ///< by their nodes; only those without a node by shards, then
    /// By collectors, and by nothing else; null: not. Compared by identity.
    AllocationViewPtr collectors{};
    auto operator<=>(const Division&) const = default;
};

/// Tells in which parts of a division a target is.
class Divider {
 public:
    explicit Divider(const Division&);

    /// The names of the parts, as Selection::parts() calls them.
    std::vector<std::string> parts_of(const ListedTarget&) const;

 private:
    const Division division_;
    /// Its members are the numbers of the shards. Null: there are none.
    std::shared_ptr<const k8s_sd::FleetView> shards_;
};

/// Which targets of a list a reader wants.
struct Selection {
    Division division{};
    unsigned shard = 0;       ///< where the division has shards
    std::string node{};       ///< where it is by nodes
    std::string collector{};  ///< where it is by collectors
    bool unassigned = false;  ///< there: those that no collector has
    auto operator<=>(const Selection&) const = default;

    /// The parts of the division that make it up, one or two.
    std::vector<std::string> parts() const;
};

/// What the query of a request asks for.
struct ListQuery {
    ListContent content{};
    Selection selection{};
    bool hold = false;  ///< `hold=1`
};

/// Reads `shard`, `member`, `shards`, `replicas`, `node`, `rest`, `form`, `meta`, `keep_meta` and
/// `hold`.
/// \param form  the usual one of the list: `discovered` or `relabelled`
/// \throws BadRequest
ListQuery read_list_query(const support::Query&, ListForm form);

}  // namespace bridge
