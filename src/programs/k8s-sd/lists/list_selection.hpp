#pragma once

#include "http/http_message.hpp"
#include "lists/collectors.hpp"
#include "lists/list_content.hpp"
#include "lists/listed_target.hpp"

#include <compare>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {
class FleetView;
}  // namespace k8s_sd::inline v0

namespace k8s_sd_program {

/// An invalid request; the text explains valid ones.
class BadRequest : public std::invalid_argument {
 public:
    using std::invalid_argument::invalid_argument;
};

/// A way to divide the targets of a list into parts.
struct ListDivision {
    unsigned shards = 0;    ///< number of shards, by share key; 0: none
    unsigned replicas = 1;  ///< shards with each target
    bool by_node = false;   ///< by node; with shards only for targets without a node
    /// By collectors only; null: otherwise. Compared by identity.
    AllocationViewPtr collectors{};
    auto operator<=>(const ListDivision&) const = default;
};

/// Determines the parts of a division for each target.
class Divider {
 public:
    explicit Divider(const ListDivision&);

    /// The names of the target's parts, as in ListSelection::parts().
    std::vector<std::string> parts_of(const ListedTarget&) const;

 private:
    const ListDivision division_;
    /// The members are the numbers of the shards. Null: no shards.
    std::shared_ptr<const k8s_sd::FleetView> shards_;
};

/// The targets of a list selected by a reader.
struct ListSelection {
    ListDivision division{};
    unsigned shard = 0;       ///< if the division has shards
    std::string node{};       ///< if it is by nodes
    std::string collector{};  ///< if it is by collectors
    bool unassigned = false;  ///< likewise: the targets without a collector
    auto operator<=>(const ListSelection&) const = default;

    /// The parts of the division in this selection, one or two.
    std::vector<std::string> parts() const;
};

/// The query of a request for a list.
struct ListQuery {
    ListContent content{};
    ListSelection selection{};
    bool hold = false;  ///< `hold=1`
};

/// Reads `shard`, `member`, `shards`, `replicas`, `node`, `rest`, `form`, `meta`, `keep_meta` and
/// `hold`.
/// \param form  the default of the list: `discovered` or `relabelled`
/// \throws BadRequest
ListQuery read_list_query(const http::Query&, ListForm form);

}  // namespace k8s_sd_program
