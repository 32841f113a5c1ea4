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

/// The reason of a list.
enum class ListReason : std::uint8_t {
    first,              ///< nothing is known yet
    expired,            ///< 410: the server no longer has the known version
    version_too_large,  ///< the server has not reached the known version yet
    version_went_back,  ///< the server's version went back: it was restored
    rejected,           ///< 400 or 422: the server rejects something in the request
    malformed,          ///< watches deliver bytes other than events
    short_watches,      ///< watches end at once, without progress
    silence,            ///< watches stay silent
    failing_watch,      ///< watches fail, but lists succeed
    polling,            ///< the server lets this client list, but not watch
    suspicious,         ///< the last list was suspicious: more than half of the objects were gone
    other_server,       ///< the kubeconfig has changed to another server or CA
};
inline constexpr std::size_t list_reason_count = 12;  ///< number of values of ListReason

/// The name of the enumerator.
constexpr std::string_view to_string(ListReason reason) noexcept {
    constexpr std::string_view names[list_reason_count] = {
        "first",         "expired",   "version_too_large", "version_went_back",
        "rejected",      "malformed", "short_watches",     "silence",
        "failing_watch", "polling",   "suspicious",        "other_server"};
    return names[static_cast<std::size_t>(reason)];
}

/// The present wait state of a watcher.
enum class Waiting : std::uint8_t {
    nothing,         ///< not started, or stopped
    start,           ///< the random delay of WatchOptions::start_jitter
    credentials,     ///< the source of credentials
    list_budget,     ///< a permit of ServerLimits::concurrent_lists, or a test of watch-lists
    list,            ///< the response to a LIST, or its next bytes
    probe,           ///< the response to a LIST of one object, for the server's version
    watch,           ///< the response to a WATCH
    events,          ///< the next event, in normal operation
    reopening,       ///< the next watch, after the normal end of the previous one
    backoff,         ///< the next attempt after a failure
    retry_after,     ///< the next attempt, at a time set by the server, or after its
                     ///< ENHANCE_YOUR_CALM
    poll,            ///< the next list, see WatchOptions::poll_interval
    connect_budget,  ///< a permit of ServerLimits::concurrent_connects
};
inline constexpr std::size_t waiting_count = 13;  ///< number of values of Waiting

/// The name of the enumerator.
constexpr std::string_view to_string(Waiting waiting) noexcept {
    constexpr std::string_view names[waiting_count] = {
        "nothing", "start",     "credentials", "list_budget", "list", "probe",         "watch",
        "events",  "reopening", "backoff",     "retry_after", "poll", "connect_budget"};
    return names[static_cast<std::size_t>(waiting)];
}

/// The status of the LIST+WATCH of one URL.
struct WatchStatus {
    Kind kind = Kind::pod;    ///< kind of the watched objects
    std::string ns;           ///< empty: all namespaces
    bool synced = false;      ///< has been listed completely at least once
    error_code error;         ///< error of the last attempt; none after a success
    std::string message;      ///< the error in words, and its remedy; without secrets. May
                              ///< quote untrusted text of the server.
    unsigned failures = 0;    ///< failed attempts since the last success
    TimePoint since{};        ///< time of the last change of `error`
    std::size_t objects = 0;  ///< number of cached objects

    Waiting waiting = Waiting::nothing;      ///< the present wait state
    TimePoint waiting_since{};               ///< start of the present wait state
    std::optional<Duration> pause;           ///< length of the wait, if fixed
    std::optional<TimePoint> last_byte;      ///< time of the last byte of a body
    std::optional<TimePoint> last_event;     ///< time of the last ADDED, MODIFIED or DELETED
    std::optional<TimePoint> last_bookmark;  ///< time of the last BOOKMARK
    std::optional<TimePoint> last_list;      ///< completion of the last list
    Duration list_duration{};                ///< duration of the last list
    /// Complete lists, indexed by ListReason.
    std::array<std::uint64_t, list_reason_count> lists{};
    std::uint64_t streamed_lists = 0;  ///< complete lists at the start of a watch (watch-lists)
    std::string resource_version;      ///< version of the cached state
    /// Version of HTTP of the last response, 1 for HTTP/1.1 or 2; 0: no response yet.
    unsigned http_version = 0;
    /// For the watch of a share (ObjectShare): whether the server sends only this share, by its own
    /// statement (shardInfo of a list) or by evidence: an object outside of the share, or a
    /// streamed list with too many objects of the share for chance. nullopt: unknown.
    std::optional<bool> server_sharded;
    std::string server;   ///< URL of the API server
    std::string cluster;  ///< DiscoveryConfig::cluster of the view; empty: none
};

/// The status of a discoverer, or of another provider of a job. Errors never remove targets.
struct DiscovererStatus {
    /// Whether every watch has been listed, or the source has its targets: the first diff has been
    /// or will be delivered.
    bool synced = false;
    error_code error;     ///< error of the source, or of the first failing watch below
    std::string message;  ///< message of this error, see WatchStatus::message
    TimePoint since{};    ///< see WatchStatus::since
    /// One for each kind and namespace, or one for each kind. Empty for other sources.
    std::vector<WatchStatus> watches;
    bool unconfirmed = false;  ///< the targets come from a snapshot, see WarmStart
    /// The snapshot's age, or the reason it was ignored or not written. Empty: nothing to report.
    std::string snapshot;
    std::string cluster;  ///< name of DiscoveryConfig::cluster; empty: none
    std::string server;   ///< URL of the API server; empty: none, or unknown
};

}  // namespace k8s_sd::inline v0
