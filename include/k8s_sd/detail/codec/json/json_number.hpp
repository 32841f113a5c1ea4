#pragma once

#include <cstdint>
#include <limits>

namespace k8s_sd::inline v0::detail {

/// Reads a JSON number character by character.
class JsonNumber {
 public:
    void begin() noexcept { *this = {}; }
    /// \returns false if the number cannot continue with this character
    bool take(char c) noexcept {
        const bool digit = c >= '0' && c <= '9';
        switch (state_) {
            case State::start:
                if (c == '-' && !negative_) return negative_ = true;
                return digit && take_integer(c == '0' ? State::zero : State::integer, c);
            case State::zero:
                // Refuse "01" as a whole, instead of reading its zero as a number.
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
    /// The characters so far form a number.
    bool complete() const noexcept {
        return state_ == State::zero || state_ == State::integer || is_fraction();
    }
    /// The number has a fraction or an exponent.
    bool is_fraction() const noexcept {
        return state_ == State::fraction || state_ == State::exponent_digits;
    }
    /// \pre no fraction. Saturates at the limits of the type.
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
