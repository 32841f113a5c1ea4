#include "k8s_sd/detail/net/api_client_impl.hpp"
#include "k8s_sd/detail/net/api_documents.hpp"
#include "k8s_sd/detail/net/served_versions.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration least_pause_of_questions = std::chrono::seconds(5);
constexpr Duration longest_pause_of_questions = std::chrono::minutes(5);
constexpr Duration longest_wait_for_versions = std::chrono::seconds(10);

}  // namespace

void ServedVersions::async_get(std::string_view name, Handler handler) {
    Group& group = groups_[std::string(name)];
    const TimePoint now = api_.environment.clock->now();
    const bool asking = !group.waiting.empty();
    if (!asking && group.asked_at && now - *group.asked_at < group.pause) {
        const Versions versions = group.versions;  // the handler may bring about new ones
        return handler(versions);
    }
    group.waiting.push_back(std::move(handler));
    if (!asking) ask(std::string(name), group);
}

void ServedVersions::forget() {
    for (auto& [name, group] : groups_) group.asked_at.reset();
}

void ServedVersions::ask(const std::string& name, Group& group) {
    const TimePoint now = api_.environment.clock->now();
    // Questions in a row make the pauses grow.
    const bool in_a_row = group.asked_at && now - *group.asked_at < 2 * longest_pause_of_questions;
    group.pause =
        in_a_row ? std::min(2 * group.pause, longest_pause_of_questions) : least_pause_of_questions;
    group.asked_at = now;
    if (!group.get) group.get = std::make_shared<ShortGet>(api_);
    group.get->start("/apis/" + name, ShortGet::Until::body, longest_wait_for_versions,
                     [&group](const ShortGet::Answer& answer) {
                         const bool good = !answer.ec && answer.head.status == 200;
                         group.versions = good ? read_group_versions(answer.body) : std::nullopt;
                         const Versions versions = group.versions;
                         // Any of them may destroy this object.
                         for (const Handler& handler : std::exchange(group.waiting, {}))
                             handler(versions);
                     });
}

}  // namespace k8s_sd::inline v0::detail
