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

/// How a list is asked for.
enum class ListShape : std::uint8_t {
    pages,     ///< LIST with a limit
    whole,     ///< LIST without one
    streamed,  ///< the first events of a watch (KEP-3157)
};

/// Which forms of a list a server, and the way to it, have let through. All watches of the server
/// share it, so that one of them learns it and the others know. What is remembered expires: a day
/// later it may be another version of the server. Thread-safe.
class ListMemory {
 public:
    struct Known {
        bool streams = true;               ///< lists as the first events of a watch
        bool compresses = true;            ///< what was asked for compressed came through
        bool slow = false;                 ///< an answer may begin late
        std::optional<ListShape> shape{};  ///< of LIST, where the usual one did not get through
        std::optional<TimePoint> json_until{};  ///< plain JSON, where another encoding did not
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
    /// A LIST got through where a streamed list did not.
    /// \param refused  the server, or the stream itself, has said why. Otherwise the server may
    /// just have begun to work in between.
    void on_not_streamed(Kind kind, bool refused, TimePoint now) {
        const std::lock_guard lock(mutex_);
        TimePoint& until = not_streamed_until_[family(kind)];
        until = std::max(until, now + (refused ? a_day : an_hour));
    }
    void on_streamed(Kind kind) {
        const std::lock_guard lock(mutex_);
        not_streamed_until_.erase(family(kind));
    }
    /// A LIST got through in this shape where it did not in the other one.
    void on_shape(Kind kind, ListShape shape, TimePoint now) {
        const std::lock_guard lock(mutex_);
        kinds_[kind].shape = shape;
        kinds_[kind].shape_until = now + a_day;
    }
    /// Plain JSON is asked for, as another encoding did not get through.
    void on_json(Kind kind, TimePoint until) {
        const std::lock_guard lock(mutex_);
        kinds_[kind].json_until = until;
    }
    /// A list got through where the same one did not when it was asked for compressed.
    void on_not_compressed(TimePoint now) {
        const std::lock_guard lock(mutex_);
        not_compressed_until_ = now + an_hour;
    }
    /// A list was answered.
    /// \param after  the time until its answer began
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
    /// The API server itself serves all built-in kinds; behind others there may be further servers.
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
