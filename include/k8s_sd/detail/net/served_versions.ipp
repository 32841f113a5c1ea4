#include "k8s_sd/detail/net/api_client_impl.hpp"
#include "k8s_sd/detail/net/api_documents.hpp"
#include "k8s_sd/detail/net/served_versions.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration min_version_question_pause = std::chrono::seconds(5);
constexpr Duration max_version_question_pause = std::chrono::minutes(5);
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
    Question& question = questions_[kind];
    question.older = older;
    const TimePoint now = api_.environment.clock->now();
    const bool asking = !question.waiting.empty();
    if (!asking && question.asked_at && now - *question.asked_at < question.pause)
        return handler(question.answer);
    question.waiting.push_back(std::move(handler));
    if (!asking) ask(kind, question);
}

void ServedVersions::forget() {
    for (auto& [kind, question] : questions_) question.asked_at.reset();
}

void ServedVersions::ask(Kind kind, Question& question) {
    const TimePoint now = api_.environment.clock->now();
    // Consecutive queries double the pause.
    const bool in_a_row =
        question.asked_at && now - *question.asked_at < 2 * max_version_question_pause;
    question.pause = in_a_row ? std::min(2 * question.pause, max_version_question_pause)
                              : min_version_question_pause;
    question.asked_at = now;
    if (!question.get) question.get = std::make_shared<ShortRequest>(api_);
    ask_for(kind, resource_of(kind).version, question);
}

/// The older version is queried only if the current one is missing.
void ServedVersions::ask_for(Kind kind, std::string_view version, Question& question) {
    const Resource& resource = resource_of(kind);
    const TimePoint now = api_.environment.clock->now();
    const Duration left = question.asked_at.value_or(now) + max_version_wait - now;
    const std::string path = "/apis/" + std::string(resource.group) + "/" + std::string(version);
    question.get->start(path, ShortRequest::short_body, left,
                        [this, kind, version, &question](const ShortRequest::Answer& answer) {
                            const bool asked_for_older = version == question.older;
                            const std::optional<bool> has = has_kind(answer, kind);
                            if (has == false && !asked_for_older)
                                return ask_for(kind, question.older, question);
                            finish(question, !has.value_or(false) ? Answer::none
                                             : asked_for_older    ? Answer::older
                                                                  : Answer::present);
                        });
}

void ServedVersions::finish(Question& question, Answer answer) {
    question.answer = answer;
    // Any handler may destroy this object.
    for (const Handler& handler : std::exchange(question.waiting, {})) handler(answer);
}

}  // namespace k8s_sd::inline v0::detail
