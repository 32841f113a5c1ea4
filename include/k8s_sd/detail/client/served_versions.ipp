#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/api_documents.hpp"
#include "k8s_sd/detail/client/served_versions.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration min_version_query_pause = std::chrono::seconds(5);
constexpr Duration max_version_query_pause = std::chrono::minutes(5);
constexpr Duration max_version_wait = std::chrono::seconds(10);

/// Whether the server has the kind in the requested version; nullopt: unknown.
std::optional<bool> has_kind(const ShortRequest::Answer& answer, Kind kind) {
    if (answer.ec) return std::nullopt;
    if (answer.head.status == 404) return false;
    if (answer.head.status != 200) return std::nullopt;
    return lists_resource(answer.body, resource_of(kind).plural);
}

}  // namespace

void ServedVersions::async_get(Kind kind, std::string_view older, Handler handler) {
    VersionQuery& query = queries_[kind];
    query.older = older;
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
    const bool in_a_row = query.asked_at && now - *query.asked_at < 2 * max_version_query_pause;
    query.pause =
        in_a_row ? std::min(2 * query.pause, max_version_query_pause) : min_version_query_pause;
    query.asked_at = now;
    if (!query.get) query.get = std::make_shared<ShortRequest>(api_);
    ask_for(kind, resource_of(kind).version, query);
}

/// The older version is queried only if the current one is missing.
void ServedVersions::ask_for(Kind kind, std::string_view version, VersionQuery& query) {
    const Resource& resource = resource_of(kind);
    const TimePoint now = api_.environment.clock->now();
    const Duration left = query.asked_at.value_or(now) + max_version_wait - now;
    const std::string path = "/apis/" + std::string(resource.group) + "/" + std::string(version);
    query.get->start(path, ShortRequest::short_body, left,
                     [this, kind, version, &query](const ShortRequest::Answer& answer) {
                         const bool asked_for_older = version == query.older;
                         const std::optional<bool> has = has_kind(answer, kind);
                         if (has == false && !asked_for_older)
                             return ask_for(kind, query.older, query);
                         finish(query, !has.value_or(false) ? Answer::none
                                       : asked_for_older    ? Answer::older
                                                            : Answer::present);
                     });
}

void ServedVersions::finish(VersionQuery& query, Answer answer) {
    query.answer = answer;
    // Any handler may destroy this object.
    for (const Handler& handler : std::exchange(query.waiting, {})) handler(answer);
}

}  // namespace k8s_sd::inline v0::detail
