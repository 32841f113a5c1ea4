#pragma once

#include "jobs/consumers.hpp"
#include "jobs/file_metrics.hpp"
#include "jobs/served_job.hpp"
#include "lists/listed_target.hpp"
#include "lists/listing.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// The metrics of the program itself, besides the library's. Any thread.
struct ServeMetrics {
    static constexpr std::array<unsigned, 4> codes{200, 304, 400, 503};

    /// Responses to requests for lists, by form and code.
    using Answers = std::array<std::atomic<std::uint64_t>, codes.size()>;
    std::array<Answers, list_form_count> polls{};
    Answers watches{};                           ///< responses to requests for streams
    std::atomic<std::uint64_t> unknown_jobs{0};  ///< requests answered with 404
    std::atomic<std::uint64_t> sent_bytes{0};    ///< bodies of lists, as transferred
    ListMetrics lists{};
    Consumers consumers{};
    std::atomic<std::uint64_t> watch_readers{0};  ///< present readers of streams
    std::atomic<std::uint64_t> watch_fulls{0};    ///< complete lists sent to them
    std::atomic<std::uint64_t> watch_diffs{0};    ///< diffs sent to them
    FileMetrics files{};

    /// \param code  one of `codes`
    void count_poll(ListForm form, unsigned code, std::size_t bytes) noexcept;
    /// Counts a request for a stream.
    void count_watch(unsigned code) noexcept;
};

/// The state of a job.
struct JobMetrics {
    JobTargetCounts targets;
    std::size_t held = 0;  ///< requests waiting for a list
    bool complete = false;
    double incomplete_seconds = 0;     ///< how long it has been incomplete
    bool unconfirmed = false;          ///< has targets stored before a restart
    bool synced = false;               ///< each of its configurations has been listed
    double unsynced_seconds = 0;       ///< how long it has not been; 0 if it is synced
    std::size_t missing_clusters = 0;  ///< of its lists
    std::size_t superseded = 0;        ///< earlier configurations with targets still in use

    bool without_targets() const noexcept { return complete && targets.none(); }
};

/// Connections and rejected requests.
struct ClientMetrics {
    std::size_t connections = 0;
    std::uint64_t refused_connections = 0;  ///< connections beyond a limit
    std::uint64_t unknown = 0;              ///< requests without a token
    std::uint64_t forbidden = 0;            ///< requests without the permission
    std::int64_t certificate_end{};         ///< in seconds since 1970; 0: no TLS
};

/// The configuration file.
struct ConfigMetrics {
    bool last_reload_successful = true;  ///< its last content is in use
};

/// The clusters of the ClusterProfiles of a hub.
struct ProfileMetrics {
    std::size_t usable = 0, unusable = 0;
    bool fails = false;  ///< a watch of them or of their Secrets
};

/// The allocation of targets to collectors, in the terms of OpenTelemetry's Target Allocator.
struct AllocationMetrics {
    struct OfJob {
        std::size_t discovered = 0;
        std::size_t kept = 0;        ///< by the relabelling rules
        std::size_t unassigned = 0;  ///< targets without a collector
    };
    std::string_view strategy{};
    std::size_t discovered = 0;                       ///< collectors, idle ones included
    std::map<std::string, std::size_t> collectors{};  ///< number of targets by busy collector
    std::map<std::string, OfJob> jobs{};
};

/// In Prometheus' text format.
std::string to_text(const ClientMetrics&);
std::string to_text(const ConfigMetrics&);
std::string to_text(const ProfileMetrics&);
std::string to_text(const AllocationMetrics&);
std::string to_text(const ServeMetrics&, const std::map<std::string, JobMetrics>& jobs);

}  // namespace k8s_sd_program
