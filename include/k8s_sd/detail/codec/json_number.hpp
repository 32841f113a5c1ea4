#pragma once

#include <cstdint>
#include <limits>

namespace k8s_sd::inline v0::detail {

/// Reads a number of JSON, one character after the other.
class JsonNumber {
 public:
    void begin() noexcept { *this = {}; }
    /// \returns false if the number does not go on with this
    bool take(char c) noexcept {
        const bool digit = c >= '0' && c <= '9';
        switch (state_) {
            case State::start:
                if (c == '-' && !negative_) return negative_ = true;
                return digit && take_integer(c == '0' ? State::zero : State::integer, c);
            case State::zero:
                // "01" is no number, not even the zero of it.
                return digit ? refuse() : begin_fraction(c);
            case State::integer: return digit ? take_integer(state_, c) : begin_fraction(c);
            case State::point: return digit && go_on(State::fraction);
            case State::fraction:
                return digit || ((c == 'e' || c == 'E') && go_on(State::exponent));
            case State::exponent:
                if (c == '+' || c == '-') return go_on(State::exponent_sign);
                return digit && go_on(State::exponent_digits);
            case State::exponent_sign: return digit && go_on(State::exponent_digits);
            case State::exponent_digits: return digit;
            case State::refused: break;
        }
        return false;
    }
    /// What was taken is a number.
    bool complete() const noexcept {
        return state_ == State::zero || state_ == State::integer || is_fraction();
    }
    /// It has a fraction or an exponent.
    bool is_fraction() const noexcept {
        return state_ == State::fraction || state_ == State::exponent_digits;
    }
    /// Of no fraction. One that is too large for this type is the largest or smallest of it.
    std::int64_t integer() const noexcept { return negative_ ? -magnitude_ : magnitude_; }

 private:
    enum class State : std::uint8_t {
        start,
        zero,
        integer,
        point,
        fraction,
        exponent,
        exponent_sign,
        exponent_digits,
        refused,
    };

    bool go_on(State state) noexcept {
        state_ = state;
        return true;
    }
    bool refuse() noexcept {
        state_ = State::refused;
        return false;
    }
    bool begin_fraction(char c) noexcept {
        if (c == '.') return go_on(State::point);
        return (c == 'e' || c == 'E') && go_on(State::exponent);
    }
    bool take_integer(State state, char digit) noexcept {
        constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
        const std::int64_t value = digit - '0';
        magnitude_ = magnitude_ > (largest - value) / 10 ? largest : magnitude_ * 10 + value;
        return go_on(state);
    }

    State state_ = State::start;
    bool negative_ = false;
    std::int64_t magnitude_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
