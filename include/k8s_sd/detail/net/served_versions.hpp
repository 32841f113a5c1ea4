#pragma once

#include "k8s_sd/detail/net/short_request.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Whether the server has a kind in the present version of its API group, or only in an older one,
/// as it says itself. GET /apis/<group>/<version> tells; that the group has a version does not:
/// networking.k8s.io had v1 long before Ingresses were in it. All watches of a client share it. It
/// asks once for all who wait, and at most every 5 s, which doubles up to 5 min while it goes on;
/// in between the last answer serves. A question is one request, or two, and 10 s at most.
class ServedVersions {
 public:
    enum class Answer : std::uint8_t {
        none,     ///< it has the kind in neither, or does not say
        present,  ///< and perhaps in the older one, too
        older,    ///< only
    };
    using Handler = std::function<void(Answer)>;

    explicit ServedVersions(ApiClientImpl& api) : api_(api) {}
    ServedVersions(const ServedVersions&) = delete;
    ServedVersions& operator=(const ServedVersions&) = delete;

    /// The handler is called from this call or later, but not after the destruction; it may
    /// destroy this object.
    /// \param older  the same for each question about the kind
    void async_get(Kind, std::string_view older, Handler);
    /// The server may be another one: the next who asks is not told what was known.
    void forget();

 private:
    struct Question {
        std::string_view older;
        Answer answer = Answer::none;
        std::optional<TimePoint> asked_at;
        Duration pause{};
        std::vector<Handler> waiting;       ///< not empty: the server is being asked
        std::shared_ptr<ShortRequest> get;  ///< null: it was never asked
    };

    void ask(Kind, Question&);
    void ask_for(Kind, std::string_view version, Question&);
    static void finish(Question&, Answer);

    ApiClientImpl& api_;
    std::map<Kind, Question> questions_;
};

}  // namespace k8s_sd::inline v0::detail
