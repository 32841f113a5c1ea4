#pragma once

#include "k8s_sd/detail/client/short_request.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Discovers whether the server has a kind in the current version of its API group, or only in
/// older ones. GET /apis/<group>/<version> decides; the version list of the group does not suffice:
/// networking.k8s.io had v1 long before it contained Ingresses. All watches of a client share the
/// result. Concurrent callers share a query. Queries are at least 5 s apart, doubling up to 5 min
/// while they continue; in between the last result is returned. A query takes one request for each
/// version at most, and 10 s at most.
class ServedVersions {
 public:
    /// Older versions of a kind, the newest first, in static memory.
    using Versions = std::span<const std::string_view>;
    struct Answer {
        bool served = false;         ///< false: in none of the versions, or unknown
        std::string_view version{};  ///< empty: the current one, perhaps beside older ones
    };
    using Handler = std::function<void(Answer)>;

    explicit ServedVersions(ApiClientImpl& api) : api_(api) {}
    ServedVersions(const ServedVersions&) = delete;
    ServedVersions& operator=(const ServedVersions&) = delete;

    /// The handler is called from this call or later, but not after destruction; it may destroy
    /// this object.
    /// \param older  equal for all calls of a kind
    /// \param max_pause  the longest pause between two queries
    void async_get(Kind, Versions older, Duration max_pause, Handler);
    /// The server may have changed: discards the cached results.
    void forget();

 private:
    struct VersionQuery {
        Versions older;
        Duration max_pause{};
        Answer answer;
        std::optional<TimePoint> asked_at;
        Duration pause{};
        std::vector<Handler> waiting;       ///< not empty: a query is pending
        std::shared_ptr<ShortRequest> get;  ///< null: no query so far
    };

    void ask(Kind, VersionQuery&);
    void ask_for(Kind, std::size_t number, VersionQuery&);
    static void finish(VersionQuery&, Answer);

    ApiClientImpl& api_;
    std::map<Kind, VersionQuery> queries_;
};

}  // namespace k8s_sd::inline v0::detail
