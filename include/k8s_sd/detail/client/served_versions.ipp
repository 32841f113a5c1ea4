#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/api_documents.hpp"
#include "k8s_sd/detail/client/served_versions.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration min_version_query_pause = std::chrono::seconds(5);
constexpr Duration max_version_wait = std::chrono::seconds(10);

/// Whether the server has the kind in the requested version; nullopt: unknown.
std::optional<bool> has_kind(const ShortRequest::Answer& answer, Kind kind) {
    if (answer.ec) return std::nullopt;
    if (answer.head.status == 404) return false;
    if (answer.head.status != 200) return std::nullopt;
    return lists_resource(answer.body, resource_of(kind).plural);
}

}  // namespace

void ServedVersions::async_get(Kind kind, Versions older, Duration max_pause, Handler handler) {
    VersionQuery& query = queries_[kind];
    query.older = older;
    query.max_pause = max_pause;
    const TimePoint now = api_.environment.clock->now();
    const bool asking = !query.waiting.empty();
    if (!asking && query.asked_at && now - *query.asked_at < query.pause)
        return handler(query.answer);
    query.waiting.push_back(std::move(handler));
    if (!asking) ask(kind, query);
}

void ServedVersions::forget() {
    for (auto& [kind, query] : queries_) query.asked_at.reset();
}

void ServedVersions::ask(Kind kind, VersionQuery& query) {
    const TimePoint now = api_.environment.clock->now();
    // Consecutive queries double the pause.
    const bool in_a_row = query.asked_at && now - *query.asked_at < 2 * query.max_pause;
    query.pause = in_a_row ? std::min(2 * query.pause, query.max_pause) : min_version_query_pause;
    query.asked_at = now;
    if (!query.get) query.get = std::make_shared<ShortRequest>(api_);
    ask_for(kind, 0, query);
}

/// An older version is queried only if all newer ones are missing.
/// \param number  0: the current version; others are in query.older
void ServedVersions::ask_for(Kind kind, std::size_t number, VersionQuery& query) {
    const Resource& resource = resource_of(kind);
    const std::string_view older = number == 0 ? std::string_view() : query.older[number - 1];
    const std::string_view version = number == 0 ? resource.version : older;
    const TimePoint now = api_.environment.clock->now();
    const Duration left = query.asked_at.value_or(now) + max_version_wait - now;
    const std::string path = "/apis/" + std::string(resource.group) + "/" + std::string(version);
    query.get->start(path, ShortRequest::short_body, left,
                     [this, kind, number, older, &query](const ShortRequest::Answer& answer) {
                         const std::optional<bool> has = has_kind(answer, kind);
                         if (has == false && number < query.older.size())
                             return ask_for(kind, number + 1, query);
                         finish(query, has.value_or(false) ? Answer{true, older} : Answer());
                     });
}

void ServedVersions::finish(VersionQuery& query, Answer answer) {
    query.answer = answer;
    // Any handler may destroy this object.
    FirstException problem;
    for (const Handler& handler : std::exchange(query.waiting, {})) {
        problem.catch_from([&] { handler(answer); });
    }
    problem.rethrow();
}

}  // namespace k8s_sd::inline v0::detail
