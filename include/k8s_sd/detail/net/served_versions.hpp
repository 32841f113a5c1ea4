#pragma once

#include "k8s_sd/detail/net/short_get.hpp"
#include "k8s_sd/time.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// In which versions the server has an API group, as it says itself (GET /apis/<group>). All
/// watches of a client share it. It asks once for all who wait, and at most every 5 s, which
/// doubles up to 5 min while it goes on; in between the last answer serves.
class ServedVersions {
 public:
    /// None: the server does not say.
    using Versions = std::optional<std::vector<std::string>>;
    using Handler = std::function<void(const Versions&)>;

    explicit ServedVersions(ApiClientImpl& api) : api_(api) {}
    ServedVersions(const ServedVersions&) = delete;
    ServedVersions& operator=(const ServedVersions&) = delete;

    /// The handler is called from this call or later, but not after the destruction; it may
    /// destroy this object.
    void async_get(std::string_view group, Handler);
    /// The server may be another one: the next who asks is not told what was known.
    void forget();

 private:
    struct Group {
        Versions versions;
        std::optional<TimePoint> asked_at;
        Duration pause{};
        std::vector<Handler> waiting;   ///< not empty: the server is being asked
        std::shared_ptr<ShortGet> get;  ///< null: it was never asked
    };

    void ask(const std::string& name, Group&);

    ApiClientImpl& api_;
    std::map<std::string, Group, std::less<>> groups_;
};

}  // namespace k8s_sd::inline v0::detail
