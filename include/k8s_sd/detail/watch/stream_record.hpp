#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// What the streams of one watch have been like. A stream begins with the head of the answer: the
/// time before it says nothing about the watch.
class StreamRecord {
 public:
    static constexpr int max_short = 5;    ///< so many short streams are suspect
    static constexpr int max_silent = 2;   ///< and so many silent ones
    static constexpr int max_expired = 3;  ///< and so many whose version expired
    static constexpr Duration short_life = std::chrono::seconds(5);
    /// After such a life a stream has nothing to do with those before.
    static constexpr Duration long_life = std::chrono::minutes(1);

    struct Stream {
        Duration life{};
        bool brought = false;   ///< an event or bookmark
        bool advanced = false;  ///< to another version than was known

        /// Such an end may be that of any watch.
        bool lived() const noexcept { return life >= std::chrono::seconds(1); }
        bool is_short() const noexcept { return !advanced && life < short_life; }
        /// The watch works.
        bool proven() const noexcept {
            return life >= std::chrono::seconds(30) || (advanced && lived());
        }
    };

    void begin(TimePoint now) {
        began_ = now;
        stream_ = {};
    }
    void on_event(bool advanced) noexcept {
        silent_ = 0;
        stream_.brought = true;
        stream_.advanced = stream_.advanced || advanced;
    }
    /// \returns the stream that has ended, if there was one
    std::optional<Stream> end(TimePoint now) {
        stream_.life = began_ ? now - *began_ : Duration{};
        if (!std::exchange(began_, std::nullopt)) {
            stream_ = {};
            return std::nullopt;
        }
        short_ = stream_.is_short() ? short_ + 1 : 0;
        if (stream_.life >= long_life) expired_ = 0;
        return stream_;
    }

    /// The stream that has ended was silent for longer than it may be.
    void on_silence() noexcept { silent_ += stream_.brought ? 0 : 1; }
    /// The version of the stream has expired.
    void on_expiry(TimePoint now) noexcept {
        constexpr Duration long_ago = std::chrono::minutes(5);
        expired_ = now - expired_at_ < long_ago ? expired_ + 1 : 1;
        expired_at_ = now;
    }

    /// The one that ended last.
    const Stream& last() const noexcept { return stream_; }
    int short_in_a_row() const noexcept { return short_; }
    int expired_in_a_row() const noexcept { return expired_; }
    int silent_in_a_row() const noexcept { return silent_; }

 private:
    std::optional<TimePoint> began_;
    Stream stream_;
    int short_ = 0;
    int silent_ = 0;
    int expired_ = 0;
    TimePoint expired_at_{};
};

}  // namespace k8s_sd::inline v0::detail
