#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/sharing/watch_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

using Queries = std::vector<WatchQuery>;
using Namespaces = std::vector<std::string>;  // one watch each; "" is a watch of all namespaces
using Selectors = std::pair<std::string, std::string>;

Selectors selectors_of(const WantedObjects& view) {
    return {view.label_selector, view.field_selector};
}

/// Plans the watches of one kind.
class Planner {
 public:
    Planner(Kind kind, const std::vector<WantedObjects>& views, SelectorSharing sharing,
            std::size_t cluster_wide_from, const RefusedWatches& refused)
        : kind_(kind), sharing_(sharing), cluster_wide_from_(cluster_wide_from), refused_(refused) {
        for (const WantedObjects& view : views) {
            if (!shares(view) || own_namespaces(view) != everywhere()) continue;
            everywhere_.insert(selectors_of(view));
        }
        for (const WantedObjects& view : views) {
            if (!shares(view)) continue;
            count(shared_, shared_namespaces(view), view);
            count(own_, own_namespaces(view), view);
        }
    }

    Queries queries(const WantedObjects& view) const {
        const Namespaces own = own_namespaces(view);
        if (shares(view)) {
            const Namespaces shared = shared_namespaces(view);
            for (const Queries& wanted :
                 {with_shared_selectors(view, shared, shared_), with_own_selectors(view, shared),
                  with_shared_selectors(view, own, own_)}) {
                if (is_allowed(view, wanted)) return wanted;
            }
        }
        const Queries wanted = with_own_selectors(view, own);
        if (is_allowed(view, wanted)) return wanted;
        return with_own_selectors(view, watched_namespaces(kind_, view.namespaces, 0));
    }

 private:
    /// The selections in a namespace.
    using Selections = std::map<std::string, std::set<Selectors>>;
    static const Namespaces& everywhere() {
        static const Immortal<const Namespaces> all(Namespaces{""});
        return *all;
    }

    static void count(Selections& selections, const Namespaces& namespaces,
                      const WantedObjects& view) {
        for (const std::string& ns : namespaces) selections[ns].insert(selectors_of(view));
    }
    /// Whether one watch without a selector replaces the individual ones.
    bool is_large(const std::set<Selectors>& selections) const {
        const std::size_t enough = sharing_ == SelectorSharing::always ? 1 : 2;
        return selections.size() >= enough || selections.contains(Selectors());
    }

    bool shares(const WantedObjects& view) const {
        return sharing_ != SelectorSharing::never && view.selects_here;
    }
    bool is_limited(const WantedObjects& view) const {
        return !view.namespaces.empty() && resource_of(kind_).namespaced;
    }
    Namespaces own_namespaces(const WantedObjects& view) const {
        return watched_namespaces(kind_, view.namespaces,
                                  refused_.all_namespaces() ? 0 : cluster_wide_from_);
    }
    /// All namespaces if the watches of other views there contain the view's objects.
    Namespaces shared_namespaces(const WantedObjects& view) const {
        const bool there = is_large(everywhere_) || everywhere_.contains(selectors_of(view));
        const bool allowed = !is_limited(view) || !refused_.all_namespaces();
        return there && allowed ? everywhere() : own_namespaces(view);
    }

    Queries with_own_selectors(const WantedObjects& view, const Namespaces& namespaces) const {
        Queries queries;
        for (const std::string& ns : namespaces)
            queries.push_back({kind_, ns, view.label_selector, view.field_selector, view.share});
        return queries;
    }
    Queries with_shared_selectors(const WantedObjects& view, const Namespaces& namespaces,
                                  const Selections& selections) const {
        Queries queries = with_own_selectors(view, namespaces);
        for (WatchQuery& query : queries) {
            if (is_large(selections.at(query.ns))) query = {kind_, query.ns, {}, {}};
        }
        return queries;
    }
    bool is_allowed(const WantedObjects& view, const Queries& queries) const {
        return std::none_of(queries.begin(), queries.end(), [&](const WatchQuery& query) {
            return refused_.has(query) ||
                   (query.ns.empty() && is_limited(view) && refused_.all_namespaces());
        });
    }

    const Kind kind_;
    const SelectorSharing sharing_;
    const std::size_t cluster_wide_from_;
    const RefusedWatches& refused_;
    std::set<Selectors> everywhere_;  // of views of all namespaces
    Selections shared_;
    Selections own_;
};

}  // namespace

void RefusedWatches::add(const WatchQuery& query, TimePoint now, Duration duration) {
    std::erase_if(refusals_, [&](const Refusal& refusal) { return refusal.query == query; });
    refusals_.push_back({query, now, now + duration});
}

bool RefusedWatches::has(const WatchQuery& query) const {
    return std::any_of(refusals_.begin(), refusals_.end(),
                       [&](const Refusal& refusal) { return refusal.query == query; });
}

bool RefusedWatches::all_namespaces() const {
    return std::any_of(refusals_.begin(), refusals_.end(),
                       [](const Refusal& refusal) { return refusal.query.ns.empty(); });
}

void RefusedWatches::expire(TimePoint now) {
    std::erase_if(refusals_, [&](const Refusal& refusal) { return refusal.until <= now; });
}

void RefusedWatches::shorten(Duration max_wait) {
    for (Refusal& refusal : refusals_)
        refusal.until = std::min(refusal.until, refusal.since + max_wait);
}

std::optional<TimePoint> RefusedWatches::next_expiry() const {
    std::optional<TimePoint> next;
    for (const Refusal& refusal : refusals_)
        next = std::min(next.value_or(refusal.until), refusal.until);
    return next;
}

std::vector<std::vector<WatchQuery>> plan_watches(Kind kind,
                                                  const std::vector<WantedObjects>& views,
                                                  SelectorSharing sharing,
                                                  std::size_t cluster_wide_from,
                                                  const RefusedWatches& refused) {
    const Planner planner(kind, views, sharing, cluster_wide_from, refused);
    std::vector<Queries> plan;
    for (const WantedObjects& view : views) plan.push_back(planner.queries(view));
    return plan;
}

}  // namespace k8s_sd::inline v0::detail
