#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/fields.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/watch_query.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Of a kind, what one view wants of the server.
struct WantedObjects {
    std::vector<std::string> namespaces{};  ///< sorted; empty: all
    std::string label_selector{};
    std::string field_selector{};
    /// The selectors may be evaluated here, see Selection.
    bool selects_here = true;
    Fields fields{};  ///< of objects for hosts; none: objects for labels
    /// Of the objects, as the server is asked for it.
    ObjectShare share{};
};

/// What the server has refused to watches that were larger than what a view needs.
class RefusedWatches {
 public:
    void add(const WatchQuery& query) { queries_.push_back(query); }
    bool has(const WatchQuery& query) const;
    /// One of all namespaces was: no view of some namespaces shall ask for one again.
    bool all_namespaces() const;

 private:
    std::vector<WatchQuery> queries_;
};

/// What to watch of a kind so that each view gets what it wants: the queries of each view. Views
/// with an equal query share a watch. What comes out depends on nothing but the parameters.
/// - A view of all namespaces without a selector serves every view of the kind.
/// - Views of the same namespaces with different selections share a watch without a selector, and
///   the other views are served by one of all namespaces if there is one.
/// - A selection that is narrow, or not known here, keeps watches of its own.
/// - What was refused is not asked for; the exact need of a view always is.
/// \param sharing  see WatchOptions
/// \param cluster_wide_from  see WatchOptions
std::vector<std::vector<WatchQuery>> plan_watches(Kind kind,
                                                  const std::vector<WantedObjects>& views,
                                                  SelectorSharing sharing,
                                                  std::size_t cluster_wide_from,
                                                  const RefusedWatches& refused);

}  // namespace k8s_sd::inline v0::detail
