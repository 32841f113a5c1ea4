#pragma once

#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/detail/base/small_count.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Ended streams in a row, by what was wrong with them.
struct StreamRows {
    SmallCount short_ones;
    SmallCount silent;
    SmallCount expired;  ///< their versions
};

/// Statistics of the streams of one watch. A stream starts with the response head: the time before
/// does not count.
class StreamRecord {
 public:
    static constexpr int max_short = 5;    ///< short streams in a row until they are suspicious
    static constexpr int max_silent = 2;   ///< the same for silent streams
    static constexpr int max_expired = 3;  ///< the same for streams with an expired version
    static constexpr Duration short_life = std::chrono::seconds(5);
    /// A stream of this length ends any row of expired streams.
    static constexpr Duration long_life = std::chrono::minutes(1);

    struct Stream {
        Duration life{};
        bool brought = false;   ///< an event or a bookmark
        bool advanced = false;  ///< to a new version

        /// After this time the end of a stream is normal.
        bool lived() const noexcept { return life >= std::chrono::seconds(1); }
        bool is_short() const noexcept { return !advanced && life < short_life; }
        /// Whether the stream shows a working watch.
        bool proven() const noexcept {
            return life >= std::chrono::seconds(30) || (advanced && lived());
        }
    };

    void begin(TimePoint now) {
        began_ = now;
        stream_ = {};
    }
    void on_event(bool advanced) noexcept {
        rows_.silent.reset();
        stream_.brought = true;
        stream_.advanced = stream_.advanced || advanced;
    }
    /// \returns the ended stream; nullopt if none was open
    std::optional<Stream> end(TimePoint now) {
        stream_.life = began_ ? now - *began_ : Duration{};
        if (!std::exchange(began_, std::nullopt)) {
            stream_ = {};
            return std::nullopt;
        }
        stream_.is_short() ? void(++rows_.short_ones) : rows_.short_ones.reset();
        if (stream_.life >= long_life) rows_.expired.reset();
        return stream_;
    }

    /// The ended stream exceeded its idle timeout.
    void on_silence() noexcept {
        if (!stream_.brought) ++rows_.silent;
    }
    /// The version of the stream has expired (410).
    void on_expiry(TimePoint now) noexcept {
        constexpr Duration long_ago = std::chrono::minutes(5);
        if (now - expired_at_ >= long_ago) rows_.expired.reset();
        ++rows_.expired;
        expired_at_ = now;
    }

    /// The most recently ended stream.
    const Stream& last() const noexcept { return stream_; }
    const StreamRows& rows() const noexcept { return rows_; }

 private:
    OptionalTime began_;
    TimePoint expired_at_{};
    Stream stream_;
    StreamRows rows_;
};

}  // namespace k8s_sd::inline v0::detail
