#pragma once

#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

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
        bool compresses = true;            ///< compressed responses get through
        bool slow = false;                 ///< responses may start late
        std::optional<ListShape> shape{};  ///< of LIST, if the usual one failed
        std::optional<TimePoint> json_until{};  ///< plain JSON, if another encoding failed
    };

    Known of(Kind kind, TimePoint now) const {
        const std::lock_guard lock(mutex_);
        Known known{.compresses = !is_before(now, not_compressed_until_),
                    .slow = is_before(now, slow_until_)};
        if (const auto streams = not_streamed_until_.find(family(kind));
            streams != not_streamed_until_.end()) {
            known.streams = now >= streams->second;
        }
        const auto entry = kinds_.find(kind);
        if (entry == kinds_.end()) return known;
        if (is_before(now, entry->second.shape_until)) known.shape = entry->second.shape;
        if (is_before(now, entry->second.json_until)) known.json_until = entry->second.json_until;
        return known;
    }
    /// A LIST succeeded after a streamed list had failed.
    /// \param refused  the server or the stream has shown the cause; otherwise the server may just
    /// have recovered in between
    void on_not_streamed(Kind kind, bool refused, TimePoint now) {
        const std::lock_guard lock(mutex_);
        TimePoint& until = not_streamed_until_[family(kind)];
        until = std::max(until, now + (refused ? a_day : an_hour));
    }
    void on_streamed(Kind kind) {
        const std::lock_guard lock(mutex_);
        not_streamed_until_.erase(family(kind));
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
    /// A list has received a response.
    /// \param after  time to its first byte
    void on_answer(Duration after, TimePoint now) {
        if (after < slow_answer) return;
        const std::lock_guard lock(mutex_);
        slow_until_ = now + a_day;
    }

 private:
    static constexpr Duration an_hour = std::chrono::hours(1);
    static constexpr Duration a_day = std::chrono::hours(24);
    static constexpr Duration slow_answer = std::chrono::seconds(4);

    struct OfKind {
        ListShape shape = ListShape::pages;
        std::optional<TimePoint> shape_until{};
        std::optional<TimePoint> json_until{};
    };
    static bool is_before(TimePoint now, const std::optional<TimePoint>& end) {
        return end && now < *end;
    }
    /// The API server itself serves all built-in kinds; aggregated servers may serve others.
    static std::optional<Kind> family(Kind kind) {
        return is_built_in(kind) ? std::nullopt : std::optional(kind);
    }

    mutable std::mutex mutex_;
    std::map<std::optional<Kind>, TimePoint> not_streamed_until_;
    std::map<Kind, OfKind> kinds_;
    std::optional<TimePoint> not_compressed_until_;
    std::optional<TimePoint> slow_until_;
};

}  // namespace k8s_sd::inline v0::detail
