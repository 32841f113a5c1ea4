#pragma once

#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// Why a watcher lists.
enum class ListReason : std::uint8_t {
    first,              ///< nothing is known yet
    expired,            ///< 410: the server has forgotten the version that is known
    version_too_large,  ///< the server has not reached that version yet
    version_went_back,  ///< the server's version is older than it was: it was restored
    rejected,           ///< 400 or 422: the server does not accept something in the request
    malformed,          ///< watches bring bytes that are not events
    short_watches,      ///< watches end at once and bring nothing
    silence,            ///< watches stay silent
    failing_watch,      ///< watches fail, and lists do not
    polling,            ///< the server lets this client list, but not watch
    shrunken,           ///< the last list lost more than half of what was known
    other_server,       ///< the kubeconfig names another server, or another CA, than before
};
inline constexpr std::size_t list_reason_count = 12;  ///< number of values of ListReason

/// The name of the enumerator.
constexpr std::string_view to_string(ListReason reason) noexcept {
    constexpr std::string_view names[list_reason_count] = {
        "first",         "expired",   "version_too_large", "version_went_back",
        "rejected",      "malformed", "short_watches",     "silence",
        "failing_watch", "polling",   "shrunken",          "other_server"};
    return names[static_cast<std::size_t>(reason)];
}

/// What a watcher waits for at present.
enum class Waiting : std::uint8_t {
    nothing,      ///< it was not started, or is no more
    start,        ///< the random delay of WatchOptions::start_jitter
    credentials,  ///< their source
    list_budget,  ///< ServerLimits::concurrent_lists lists of this server are under way
    list,         ///< the answer to a LIST, or more of it
    probe,        ///< the answer to a LIST of one object, which tells the server's version
    watch,        ///< the answer to a WATCH
    events,       ///< all is well: the next event
    reopening,    ///< the next watch, after one that ended as watches do
    backoff,      ///< the next attempt after a failure
    retry_after,  ///< the next attempt, when the server asked for it
    poll,         ///< the next list, see WatchOptions::poll_interval
};
inline constexpr std::size_t waiting_count = 12;  ///< number of values of Waiting

/// The name of the enumerator.
constexpr std::string_view to_string(Waiting waiting) noexcept {
    constexpr std::string_view names[waiting_count] = {
        "nothing", "start",  "credentials", "list_budget", "list",        "probe",
        "watch",   "events", "reopening",   "backoff",     "retry_after", "poll"};
    return names[static_cast<std::size_t>(waiting)];
}

/// How the LIST+WATCH of one URL is doing.
struct WatchStatus {
    Kind kind = Kind::pod;    ///< what is watched
    std::string ns;           ///< empty: all namespaces
    bool synced = false;      ///< has been listed completely at least once
    error_code error;         ///< of the last attempt; none: all is well
    std::string message;      ///< the error in words, and how to mend it; no secrets in it. May
                              ///< quote the server, whose text is not to be trusted.
    unsigned failures = 0;    ///< attempts that failed since the last success
    TimePoint since{};        ///< when `error` took its present value
    std::size_t objects = 0;  ///< that are kept

    Waiting waiting = Waiting::nothing;      ///< what it waits for
    TimePoint waiting_since{};               ///< when `waiting` took its present value
    std::optional<Duration> pause;           ///< of the wait, where it has a fixed end
    std::optional<TimePoint> last_byte;      ///< when a body last brought something
    std::optional<TimePoint> last_event;     ///< ADDED, MODIFIED or DELETED
    std::optional<TimePoint> last_bookmark;  ///< BOOKMARK
    std::optional<TimePoint> last_list;      ///< when a list was complete
    Duration list_duration{};                ///< of that list
    /// Complete lists, indexed by ListReason.
    std::array<std::uint64_t, list_reason_count> lists{};
    std::uint64_t streamed_lists = 0;  ///< those of them that began a watch (watch-lists)
    std::string resource_version;      ///< what is known is as new as this
    /// Of a watch of a share (ObjectShare): whether the server sends that share only, as it last
    /// said (shardInfo of a list) or showed: by an object outside of it, or by a streamed list of
    /// so many objects of the share that it cannot be chance. Nothing: neither said nor shown.
    std::optional<bool> server_sharded;
};

/// How a discoverer is doing, or another provider of a job. Targets are never dropped because of
/// an error.
struct DiscovererStatus {
    /// Every watch has been listed, or the source has told its targets: the first diff was or is
    /// delivered.
    bool synced = false;
    error_code error;     ///< of the first watch below that has one, or of the source
    std::string message;  ///< of that watch, see WatchStatus::message
    TimePoint since{};    ///< of that watch, see WatchStatus::since
    /// One for each kind and namespace, or one for each kind. Other sources have none.
    std::vector<WatchStatus> watches;
    bool unconfirmed = false;  ///< the targets come from a snapshot, see WarmStart
    /// Of the snapshot: how old it is, or why it is ignored or not written. Empty: nothing to say.
    std::string snapshot;
};

}  // namespace k8s_sd::inline v0
