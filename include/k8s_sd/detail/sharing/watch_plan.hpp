#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/objects/fields.hpp"
#include "k8s_sd/selector.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The namespaces to watch for a kind, one watch each; "" is one watch of all namespaces.
/// \param wanted  from the configuration; empty: all
/// \param cluster_wide_from  see WatchOptions; 0: a watch of all namespaces is refused
inline std::vector<std::string> watched_namespaces(Kind kind,
                                                   const std::vector<std::string>& wanted,
                                                   std::size_t cluster_wide_from) {
    const bool together = cluster_wide_from != 0 && wanted.size() >= cluster_wide_from;
    if (wanted.empty() || together || !resource_of(kind).namespaced) return {""};
    return wanted;
}

/// The query for one of these namespaces.
WatchQuery query_of(const WatchScope&, Kind, const std::string& ns);

/// The objects one view wants of a kind.
struct WantedObjects {
    std::vector<std::string> namespaces{};  ///< sorted; empty: all
    std::string label_selector{};
    std::string field_selector{};
    /// The selectors may be evaluated locally, see Selection.
    bool selects_here = true;
    Fields fields{};  ///< objects for hosts; none: objects for labels
    /// The share requested from the server.
    ObjectShare share{};
};

/// Refused queries for more than a single view needs. Refusals expire, because permissions may be
/// granted while the program runs.
class RefusedWatches {
 public:
    /// Records a refusal with its duration.
    void add(const WatchQuery& query, TimePoint now, Duration duration);
    bool has(const WatchQuery& query) const;
    /// Whether a watch of all namespaces is refused; views of some namespaces then avoid one.
    bool all_namespaces() const;

    bool empty() const noexcept { return refusals_.empty(); }
    /// Drops expired refusals.
    void expire(TimePoint now);
    /// Limits the total duration of each refusal.
    void shorten(Duration max_wait);
    void clear() noexcept { refusals_.clear(); }
    /// The next expiry; nullopt: no refusals.
    std::optional<TimePoint> next_expiry() const;

 private:
    struct Refusal {
        WatchQuery query;
        TimePoint since;
        TimePoint until;
    };

    std::vector<Refusal> refusals_;
};

/// Plans the watches of a kind: the queries for each view. Views with an equal query share a watch.
/// The result depends only on the parameters.
/// - A view of all namespaces without a selector serves every view of the kind.
/// - Views of the same namespaces with different selections share a watch without a selector. If
///   there is one of all namespaces, it serves the other views, too.
/// - A narrow or unsupported selection keeps its own watches.
/// - Refused queries are avoided, except for the exact need of a view.
/// \param sharing  see WatchOptions
/// \param cluster_wide_from  see WatchOptions
std::vector<std::vector<WatchQuery>> plan_watches(Kind kind,
                                                  const std::vector<WantedObjects>& views,
                                                  SelectorSharing sharing,
                                                  std::size_t cluster_wide_from,
                                                  const RefusedWatches& refused);

}  // namespace k8s_sd::inline v0::detail
