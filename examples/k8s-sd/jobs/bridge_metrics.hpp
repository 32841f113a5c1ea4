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

namespace bridge {

/// What the program counts, besides what the library does. Any thread.
struct BridgeMetrics {
    static constexpr std::array<unsigned, 4> codes{200, 304, 400, 503};

    /// Answers to requests of lists, by form and code.
    using Answers = std::array<std::atomic<std::uint64_t>, codes.size()>;
    std::array<Answers, list_form_count> polls{};
    Answers watches{};                           ///< to requests of streams
    std::atomic<std::uint64_t> unknown_jobs{0};  ///< requests that got 404
    std::atomic<std::uint64_t> sent_bytes{0};    ///< bodies of lists, as they were sent
    ListMetrics lists{};
    Consumers consumers{};
    std::atomic<std::uint64_t> watch_readers{0};  ///< of streams, now
    std::atomic<std::uint64_t> watch_fulls{0};    ///< whole lists that they were sent
    std::atomic<std::uint64_t> watch_diffs{0};    ///< and diffs
    FileMetrics files{};

    /// \param code  one of `codes`
    void count_poll(ListForm form, unsigned code, std::size_t bytes) noexcept;
    /// The same for requests of streams.
    void count_watch(unsigned code) noexcept;
};

/// How a job is doing.
struct JobMetrics {
    TargetCounts targets;
    std::size_t held = 0;  ///< requests that wait for a list
    bool complete = false;
    double incomplete_seconds = 0;  ///< for how long it has waited for that
    bool unconfirmed = false;       ///< has targets of before a restart
    bool synced = false;            ///< each of its configurations has been listed
    double unsynced_seconds = 0;    ///< for how long not; 0 if it is synced
    std::size_t superseded = 0;     ///< earlier configurations whose targets it still has
};

/// What the server is asked by whom.
struct ClientMetrics {
    std::size_t connections = 0;
    std::uint64_t turned_away = 0;   ///< connections beyond a limit
    std::uint64_t unknown = 0;       ///< requests without a token
    std::uint64_t forbidden = 0;     ///< requests of those who may not ask
    std::int64_t certificate_end{};  ///< in seconds since 1970; 0: no TLS
};

/// How targets are allocated to collectors, as OpenTelemetry's Target Allocator tells it.
struct AllocationMetrics {
    struct OfJob {
        std::size_t discovered = 0;
        std::size_t kept = 0;        ///< by the rules
        std::size_t unassigned = 0;  ///< that no collector has
    };
    std::string_view strategy{};
    std::size_t discovered = 0;                       ///< collectors, idle ones too
    std::map<std::string, std::size_t> collectors{};  ///< the others, and how many targets each has
    std::map<std::string, OfJob> jobs{};
};

/// In Prometheus' text format.
std::string to_text(const ClientMetrics&);
std::string to_text(const AllocationMetrics&);
std::string to_text(const BridgeMetrics&, const std::map<std::string, JobMetrics>& jobs);

}  // namespace bridge
