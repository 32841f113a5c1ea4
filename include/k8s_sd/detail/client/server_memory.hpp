#pragma once

#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Measures the transfer rate of lists, to decide about compression. An API server compresses about
/// 100 MB/s per core, to an eighth of the size. A network of 16 MB/s then transfers a list in an
/// eighth of the time, one of 100 MB/s gains nothing, and the server's load rises in both cases. So
/// compression is requested only after a measurement far below 100 MB/s. Thread-safe.
class TransferRate {
 public:
    /// An uncompressed list is complete.
    /// \param waited  time spent waiting for its bytes after the first ones, without local
    /// processing
    void add(std::uint64_t bytes, Duration waited, TimePoint now) {
        // An API server does not compress smaller responses.
        constexpr std::uint64_t min_bytes = 128 * 1024;
        if (bytes < min_bytes) return;
        const std::lock_guard lock(mutex_);
        measured_ = now;
        slow_ =
            static_cast<double>(bytes) < threshold * std::chrono::duration<double>(waited).count();
    }
    /// Measurements expire, because the network path may change.
    bool is_slow(TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return slow_ && measured_ && now - *measured_ < std::chrono::hours(1);
    }

 private:
    static constexpr double threshold = 16e6;  // bytes per second

    mutable std::mutex mutex_;
    std::optional<TimePoint> measured_;
    bool slow_ = false;
};

/// Remembers a server's support for shardSelector (KEP-5866): it may refuse the parameter, or
/// ignore it. Entries expire after an hour, because the server may be upgraded. Thread-safe.
class ServerShards {
 public:
    /// A request succeeded only without the parameter.
    /// \returns whether this was unknown
    bool on_refused(TimePoint now) {
        const std::lock_guard lock(mutex_);
        const bool known = is_recent(refused_, now);
        refused_ = now;
        return !known;
    }
    /// An object outside the requested share has arrived.
    void on_ignored(TimePoint now) {
        const std::lock_guard lock(mutex_);
        ignored_ = now;
    }
    /// Whether to send the parameter.
    bool worth_trying(TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return !is_recent(refused_, now);
    }
    /// Whether a request for a share returns more than the share.
    bool of_no_use(TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return is_recent(refused_, now) || is_recent(ignored_, now);
    }

 private:
    static bool is_recent(const std::optional<TimePoint>& when, TimePoint now) {
        return when && now - *when < std::chrono::hours(1);
    }

    mutable std::mutex mutex_;
    std::optional<TimePoint> refused_, ignored_;
};

/// The bookmark interval of a server, measured over all its watches. It is the median of the last
/// intervals: a busy server or a stopped process does not distort it, and it adapts to a new
/// interval after a few bookmarks. Thread-safe.
class BookmarkCadence {
 public:
    void add(Duration interval) {
        const std::lock_guard lock(mutex_);
        last_[added_++ % last_.size()] = interval;
    }
    /// nullopt before the first interval.
    std::optional<Duration> interval() const {
        const std::lock_guard lock(mutex_);
        const std::size_t count = std::min(added_, last_.size());
        if (count == 0) return std::nullopt;
        auto sorted = last_;
        std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
        return sorted[count / 2];
    }

 private:
    mutable std::mutex mutex_;
    std::array<Duration, 8> last_{};
    std::size_t added_ = 0;
};

/// The form of a list request.
enum class ListShape : std::uint8_t {
    pages,     ///< LIST with a limit
    whole,     ///< LIST without a limit
    streamed,  ///< initial events of a watch (KEP-3157)
};

/// Remembers which list forms a server and the proxies before it support. All watches of the server
/// share this knowledge. Entries expire, because the server may be upgraded. Thread-safe.
class ListMemory {
 public:
    struct Known {
        bool streams = true;               ///< lists can be streamed as initial events of a watch
        bool streams_now = false;          ///< a streamed list has begun a moment ago
        bool compresses = true;            ///< compressed responses get through
        bool compresses_streams = true;    ///< streamed lists, too
        bool drops = true;                 ///< may be asked for objects without managedFields
        bool slow = false;                 ///< responses may start late
        std::optional<ListShape> shape{};  ///< of LIST, if the usual one failed
        std::optional<TimePoint> json_until{};  ///< plain JSON, if another encoding failed
    };

    Known of(Kind kind, TimePoint now) const {
        const std::lock_guard lock(mutex_);
        Known known{.compresses = !is_before(now, not_compressed_until_),
                    .compresses_streams = !is_before(now, plain_streams_until_),
                    .drops = !is_before(now, drop_refused_until_),
                    .slow = is_before(now, slow_until_)};
        if (const auto found = streams_.find(family(kind)); found != streams_.end()) {
            known.streams = !is_before(now, found->second.refused_until);
            known.streams_now = is_before(now, found->second.proven_until);
        }
        const auto entry = kinds_.find(kind);
        if (entry == kinds_.end()) return known;
        if (is_before(now, entry->second.shape_until)) known.shape = entry->second.shape;
        if (is_before(now, entry->second.json_until)) known.json_until = entry->second.json_until;
        return known;
    }
    /// A LIST succeeded after a streamed list had failed, or the server has refused the latter.
    /// \param refused  the server or the stream has shown the cause; otherwise the server may just
    /// have recovered in between
    void on_not_streamed(Kind kind, bool refused, TimePoint now) {
        const std::lock_guard lock(mutex_);
        Streams& streams = streams_[family(kind)];
        const TimePoint until = now + (refused ? a_day : an_hour);
        streams.refused_until = std::max(streams.refused_until.value_or(until), until);
        streams.proven_until.reset();
    }
    /// The server has begun to answer a streamed list.
    void on_stream_begun(Kind kind, TimePoint now) {
        const std::lock_guard lock(mutex_);
        streams_[family(kind)].proven_until = now + a_moment;
    }
    /// A streamed list is complete.
    void on_streamed(Kind kind) {
        const std::lock_guard lock(mutex_);
        streams_[family(kind)].refused_until.reset();
    }
    /// Whether a list may be streamed now because all its other forms have failed. Limits these
    /// requests of all watches together: most servers that refuse one refuse all of them.
    bool take_last_resort(Kind kind, TimePoint now) {
        const std::lock_guard lock(mutex_);
        Streams& streams = streams_[family(kind)];
        if (!is_before(now, streams.last_resorts_until)) {
            streams.last_resorts_until = now + a_moment;
            streams.last_resorts = 0;
        }
        return streams.last_resorts++ < max_last_resorts;
    }

    /// Whether to request the server's version: while it lacks a feature, every ten minutes, and
    /// after a recovery of the server.
    /// \param recoveries  of the server, see ServerTraffic::recoveries()
    bool take_version_check(std::uint64_t recoveries, TimePoint now) {
        const std::lock_guard lock(mutex_);
        const bool refused =
            is_before(now, plain_streams_until_) || is_before(now, drop_refused_until_) ||
            std::any_of(streams_.begin(), streams_.end(), [now](const auto& entry) {
                return is_before(now, entry.second.refused_until);
            });
        const Duration pause = recoveries != checked_recoveries_ ? a_moment : ten_minutes;
        if (!refused || (checked_ && now - *checked_ < pause)) return false;
        checked_ = now;
        checked_recoveries_ = recoveries;
        return true;
    }
    /// The server has reported its version. Another one than before may have the features.
    void on_version(std::string version) {
        const std::lock_guard lock(mutex_);
        if (version.empty() || version == version_) return;
        if (!version_.empty()) forget_features();
        version_ = std::move(version);
    }
    /// The server may have been restarted.
    void on_outage() {
        const std::lock_guard lock(mutex_);
        for (auto& [family, streams] : streams_) streams.proven_until.reset();
    }

    /// A LIST succeeded in this shape after it had failed in the other one.
    void on_shape(Kind kind, ListShape shape, TimePoint now) {
        const std::lock_guard lock(mutex_);
        kinds_[kind].shape = shape;
        kinds_[kind].shape_until = now + a_day;
    }
    /// Plain JSON is in use, because another encoding failed.
    void on_json(Kind kind, TimePoint until) {
        const std::lock_guard lock(mutex_);
        kinds_[kind].json_until = until;
    }
    /// A list succeeded without compression after it had failed with it.
    void on_not_compressed(TimePoint now) {
        const std::lock_guard lock(mutex_);
        not_compressed_until_ = now + an_hour;
    }
    /// A streamed list was not compressed as requested: the server lacks the feature.
    void on_plain_stream(TimePoint now) {
        const std::lock_guard lock(mutex_);
        plain_streams_until_ = now + a_day;
    }
    /// A request succeeded only without the parameter.
    /// \returns whether this was unknown
    bool on_drop_refused(TimePoint now) {
        const std::lock_guard lock(mutex_);
        const bool known = is_before(now, drop_refused_until_);
        drop_refused_until_ = now + a_day;
        return !known;
    }
    /// A list has received a response.
    /// \param after  time to its first byte
    void on_answer(Duration after, TimePoint now) {
        if (after < slow_answer) return;
        const std::lock_guard lock(mutex_);
        slow_until_ = now + a_day;
    }

    /// The API group of a kind with a server of its own, or empty. The API server itself serves all
    /// built-in kinds; aggregated servers may serve other groups.
    static std::string_view family(Kind kind) {
        return is_built_in(kind) ? std::string_view() : resource_of(kind).group;
    }

 private:
    static constexpr Duration a_moment = std::chrono::seconds(10);
    static constexpr Duration ten_minutes = std::chrono::minutes(10);
    static constexpr Duration an_hour = std::chrono::hours(1);
    static constexpr Duration a_day = std::chrono::hours(24);
    static constexpr Duration slow_answer = std::chrono::seconds(4);
    static constexpr int max_last_resorts = 4;  // in a moment: two watches with two encodings

    struct OfKind {
        ListShape shape = ListShape::pages;
        std::optional<TimePoint> shape_until{};
        std::optional<TimePoint> json_until{};
    };
    /// Streamed lists of a family of kinds.
    struct Streams {
        std::optional<TimePoint> refused_until{};
        std::optional<TimePoint> proven_until{};
        std::optional<TimePoint> last_resorts_until{};
        int last_resorts = 0;  ///< until then
    };
    static bool is_before(TimePoint now, const std::optional<TimePoint>& end) {
        return end && now < *end;
    }
    void forget_features() {
        streams_.clear();
        plain_streams_until_.reset();
        drop_refused_until_.reset();
    }

    mutable std::mutex mutex_;
    std::map<std::string_view, Streams> streams_;
    std::map<Kind, OfKind> kinds_;
    std::optional<TimePoint> not_compressed_until_;
    std::optional<TimePoint> plain_streams_until_;
    std::optional<TimePoint> drop_refused_until_;
    std::optional<TimePoint> slow_until_;
    std::string version_;  // of the server; empty: unknown
    std::optional<TimePoint> checked_;
    std::uint64_t checked_recoveries_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
