#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/fields.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"
#include "k8s_sd/watch_query.hpp"

#include <cstddef>
#include <optional>
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

/// What the server has refused to watches that were larger than what a view needs. A refusal ends:
/// a permission may be given later than the program starts.
class RefusedWatches {
 public:
    /// The query is refused from now on, for so long.
    void add(const WatchQuery& query, TimePoint now, Duration duration);
    bool has(const WatchQuery& query) const;
    /// One of all namespaces is refused: no view of some namespaces asks for one.
    bool all_namespaces() const;

    bool empty() const noexcept { return refusals_.empty(); }
    /// Drops the refusals that have ended.
    void expire(TimePoint now);
    /// Ends each refusal when it has lasted for so long, unless it ends earlier.
    void shorten(Duration longest);
    void clear() noexcept { refusals_.clear(); }
    /// When the first one ends; nothing: there is none.
    std::optional<TimePoint> next_expiry() const;

 private:
    struct Refusal {
        WatchQuery query;
        TimePoint since;
        TimePoint until;
    };

    std::vector<Refusal> refusals_;
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
