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
    Kind kind = Kind::pod;  ///< kind of the watched objects
    std::string ns;         ///< empty: all namespaces
    bool synced = false;    ///< has been listed completely at least once
    error_code error;       ///< error of the last attempt; none after a success
    std::string message;    ///< the error in words, and its remedy; without secrets. May
                            ///< quote untrusted text of the server.
    /// Whether the error is a response in another form than an API server's: of a proxy on the way,
    /// or of another server because the URL is wrong.
    bool foreign_response = false;
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
    /// statement (shardInfo of a list) or by evidence: an object outside the share, or a
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

/// The use of one API server by all watches and caches of one execution context. The limits are
/// those of Environment::limits.
struct ServerUsage {
    std::string server{};              ///< URL
    std::uint64_t requests = 0;        ///< requests sent
    std::uint64_t failures = 0;        ///< failures of watches by the server or the network
    std::uint64_t received_bytes = 0;  ///< bytes of bodies of lists and watches
    /// Whether the last request of a watch failed because of the server or the network.
    bool failing = false;
    std::size_t lists_running = 0;     ///< lists in progress, see ServerLimits::concurrent_lists
    std::size_t lists_waiting = 0;     ///< lists without a permit
    std::size_t open_watches = 0;      ///< see ServerLimits::watches
    std::size_t connects_running = 0;  ///< see ServerLimits::concurrent_connects
    std::size_t connects_waiting = 0;  ///< requests without a permit to connect
    std::size_t connections = 0;       ///< connections, open or being established
};

/// The health of one API server as seen by the jobs of a DiscoveryManager, and its use.
struct ServerHealth {
    std::string cluster{};     ///< name of DiscoveryConfig::cluster; empty: none
    std::string server{};      ///< URL; empty: unknown, all configurations are unusable
    std::size_t configs = 0;   ///< distinct configurations of this server
    std::size_t unusable = 0;  ///< unusable ones, see ConfigFailure
    bool synced = false;       ///< whether each configuration has been listed
    error_code error{};        ///< error of the first failing watch or unusable configuration
    std::string message{};     ///< see DiscovererStatus::message
    TimePoint since{};         ///< see DiscovererStatus::since
    std::size_t watches = 0;   ///< watches of these configurations
    std::size_t failing_watches = 0;  ///< watches with an error
    std::size_t objects = 0;          ///< cached objects, nearly all of the memory besides groups
    std::size_t groups = 0;           ///< target groups
    std::size_t targets = 0;          ///< targets in these groups
    ServerUsage usage{};              ///< by the whole execution context
};

}  // namespace k8s_sd::inline v0
