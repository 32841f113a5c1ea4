#pragma once

#include "k8s_sd/detail/codec/json/json_block.hpp"
#include "k8s_sd/detail/codec/json/json_number.hpp"
#include "k8s_sd/detail/codec/json/json_skip.hpp"
#include "k8s_sd/detail/text/json_text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Parses JSON (RFC 8259) in chunks of any size, and reports its content to a handler:
///
///     on_object_begin() on_object_end() on_array_begin() on_array_end()
///     on_key_part(text) on_key(rest) on_string_part(text) on_string(rest)
///     on_integer(value) on_fraction() on_boolean(value) on_null()
///     passes_over()   whether to skip the object or array beginning here, at a fraction of the
///                     cost of parsing it; see JsonSkip for the errors it does not detect
///     on_passed()     the value has been skipped
///     on_document_end()
///
/// Texts are views of the chunk, or of a buffer in the parser, and are not checked for UTF-8. The
/// parser allocates no memory, and does not recurse for nesting.
template <class Handler>
class JsonParser {
 public:
    template <class... Args>
    explicit JsonParser(Args&&... args) : handler_(std::forward<Args>(args)...) {}

    Handler& handler() noexcept { return handler_; }
    const Handler& handler() const noexcept { return handler_; }

    /// Starts a document and discards the rest of the previous one.
    void begin() noexcept {
        state_ = State::value;
        depth_ = 0;
        problem_ = {};
    }
    /// \returns the number of bytes consumed: all of them, unless the document ends among them or
    /// there is a problem()
    std::size_t feed(std::string_view bytes) {
        const char* at = bytes.data();
        const char* const end = at + bytes.size();
        while (at != end && state_ != State::done && state_ != State::failed) at = step(at, end);
        return static_cast<std::size_t>(at - bytes.data());
    }
    bool done() const noexcept { return state_ == State::done; }
    /// In the middle of a skipped value.
    bool passing() const noexcept { return state_ == State::passing; }
    /// Why the bytes are not JSON; empty if there is no error so far.
    std::string_view problem() const noexcept { return problem_; }

 private:
    enum class State : std::uint8_t {
        value,          // before a value
        first_element,  // or the end of the array
        first_key,      // or the end of the object
        key,
        colon,
        comma,  // or the end of the surrounding value
        text,
        escape,  // its beginning is in escape_
        number,
        literal,
        passing,
        done,
        failed,
    };
    static constexpr std::size_t max_escape_size = 12;  // \uXXXX\uXXXX

    const char* step(const char* at, const char* end) {
        switch (state_) {
            case State::value:
            case State::first_element: return take_value(at, end);
            case State::first_key:
            case State::key: return take_key(at, end);
            case State::colon: return take_colon(at, end);
            case State::comma: return take_comma(at, end);
            case State::text: return take_text(at, end);
            case State::escape: return take_escape_byte(at);
            case State::number: return take_number(at, end);
            case State::literal: return take_literal(at, end);
            case State::passing: return pass_over(at, end);
            case State::done:
            case State::failed: break;
        }
        return at;
    }

    [[gnu::noinline]] const char* fail(const char* at, std::string_view problem) noexcept {
        state_ = State::failed;
        problem_ = problem;
        return at;
    }
    // Handles unexpected characters: skips spaces, rare in JSON of the API server, and refuses
    // others. Spaces do not change the state, so feed() continues after them.
    [[gnu::noinline]] const char* skip_space_or_fail(const char* at, const char* end,
                                                     std::string_view problem) noexcept {
        const char* const begin = at;
        while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
        return at == begin ? fail(at, problem) : at;
    }

    const char* take_value(const char* at, const char* end) {
        switch (*at) {
            case '"': return begin_text(at, end, false);
            case '{': return open(at, end, false);
            case '[': return open(at, end, true);
            case 't': return begin_literal(at, end, "true");
            case 'f': return begin_literal(at, end, "false");
            case 'n': return begin_literal(at, end, "null");
            case ']':
                if (state_ == State::first_element) return close(at);
                break;
            case ' ':
            case '\n':
            case '\r':
            case '\t': return skip_space_or_fail(at, end, {});
            default: break;
        }
        number_.begin();
        state_ = State::number;
        return take_number(at, end);
    }
    const char* take_key(const char* at, const char* end) {
        if (*at == '"') return begin_text(at, end, true);
        if (*at == '}' && state_ == State::first_key) return close(at);
        return skip_space_or_fail(at, end, "a key was expected");
    }
    const char* take_colon(const char* at, const char* end) {
        if (at == end) return at;
        if (*at != ':') return skip_space_or_fail(at, end, "a colon was expected");
        state_ = State::value;
        return ++at == end ? at : take_value(at, end);
    }
    const char* take_comma(const char* at, const char* end) {
        const bool array = is_array_[depth_ - 1];
        if (*at == (array ? ']' : '}')) return close(at);
        if (*at != ',')
            return skip_space_or_fail(at, end, "a comma or a closing bracket was expected");
        state_ = array ? State::value : State::key;
        if (++at == end) return at;
        return array ? take_value(at, end) : take_key(at, end);
    }

    const char* open(const char* at, const char* end, bool array) {
        if (handler_.passes_over()) {
            skip_.begin(max_json_depth - depth_);
            state_ = State::passing;
            return pass_over(at, end);
        }
        if (depth_ == max_json_depth) return fail(at, "it is nested too deeply");
        is_array_[depth_++] = array;
        state_ = array ? State::first_element : State::first_key;
        array ? handler_.on_array_begin() : handler_.on_object_begin();
        return at + 1;
    }
    const char* close(const char* at) {
        is_array_[--depth_] ? handler_.on_array_end() : handler_.on_object_end();
        end_value();
        return at + 1;
    }
    const char* pass_over(const char* at, const char* end) {
        const char* const begin = at;
        at = skip_.pass(at, end);
        if (skip_.failed())
            return fail(at, "strings or brackets do not match, or it is nested too deeply");
        handler_.on_passing({begin, static_cast<std::size_t>(at - begin)});
        if (!skip_.done()) return at;
        handler_.on_passed();
        end_value();
        return at;
    }
    void end_value() {
        state_ = State::comma;
        if (depth_ > 0) return;
        state_ = State::done;
        handler_.on_document_end();
    }

    const char* begin_text(const char* quote, const char* end, bool key) {
        is_key_ = key;
        state_ = State::text;
        return take_text(quote + 1, end);
    }
    const char* take_text(const char* at, const char* end) {
        const char* const stop = find_end_of_text(at, end);
        const std::string_view text(at, static_cast<std::size_t>(stop - at));
        if (stop != end && *stop == '"') return end_text(text, stop + 1, end);
        take_part(text);
        if (stop == end) return stop;
        if (*stop != '\\') return fail(stop, "there is a control character in a string");
        return begin_escape(stop, end);
    }
    [[gnu::noinline]] void take_part(std::string_view part) {
        if (part.empty()) return;
        is_key_ ? handler_.on_key_part(part) : handler_.on_string_part(part);
    }
    const char* end_text(std::string_view rest, const char* at, const char* end) {
        if (is_key_) {
            handler_.on_key(rest);
            state_ = State::colon;
            return take_colon(at, end);
        }
        handler_.on_string(rest);
        end_value();
        return at;
    }

    [[gnu::noinline]] const char* begin_escape(const char* backslash, const char* end) {
        const std::string_view rest(backslash, static_cast<std::size_t>(end - backslash));
        const JsonEscape escape = json_escape(rest);
        if (escape.size > 0) {
            return end_escape(rest.substr(0, escape.size), escape) ? backslash + escape.size
                                                                   : backslash;
        }
        rest.copy(escape_.data(), rest.size());
        escape_size_ = rest.size();
        state_ = State::escape;
        return end;
    }
    const char* take_escape_byte(const char* at) {
        escape_[escape_size_++] = *at;
        const std::string_view text(escape_.data(), escape_size_);
        const JsonEscape escape = json_escape(text);
        if (escape.size > 0) end_escape(text, escape);
        return at + 1;
    }
    bool end_escape(std::string_view text, const JsonEscape& escape) {
        static constexpr std::string_view letters = "\"\\/bfnrt";
        static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        const std::size_t letter = letters.find(text[1]);
        const bool hexadecimal = text[1] == 'u' && escape.size > 2;
        if (escape.lone || !(hexadecimal || letter != letters.npos)) {
            fail(nullptr, escape.lone ? "there is half a surrogate pair in a string"
                                      : "there is an invalid escape in a string");
            return false;
        }
        state_ = State::text;
        if (hexadecimal) {
            take_part(utf8_of(text).text());
        } else {
            take_part(meanings.substr(letter, 1));
        }
        return true;
    }
    /// The character of "\uXXXX" or of a surrogate pair.
    struct Character {
        std::array<char, 4> bytes{};
        std::size_t size = 0;

        Character& operator+=(char byte) noexcept {
            bytes[size++] = byte;
            return *this;
        }
        std::string_view text() const noexcept { return {bytes.data(), size}; }
    };
    static Character utf8_of(std::string_view escape) noexcept {
        std::uint32_t code = four_digits(escape.substr(2));
        if (escape.size() == max_escape_size) {
            code = 0x10000 + ((code - 0xd800) << 10U) + (four_digits(escape.substr(8)) - 0xdc00);
        }
        Character character;
        append_utf8(character, code);
        return character;
    }
    static std::uint32_t four_digits(std::string_view digits) noexcept {
        std::uint32_t code = 0;
        for (const char c : digits.substr(0, 4)) {
            const auto letter = static_cast<std::uint32_t>(c | 0x20);
            code =
                code << 4U | (c <= '9' ? static_cast<std::uint32_t>(c - '0') : letter - 'a' + 10);
        }
        return code;
    }

    const char* take_number(const char* at, const char* end) {
        while (at != end && number_.take(*at)) ++at;
        if (at == end) return at;
        if (!number_.complete()) return fail(at, "a value was expected");
        number_.is_fraction() ? handler_.on_fraction() : handler_.on_integer(number_.integer());
        end_value();
        return at;
    }

    const char* begin_literal(const char* at, const char* end, const char* literal) {
        literal_ = literal_left_ = literal;
        state_ = State::literal;
        return take_literal(at, end);
    }
    const char* take_literal(const char* at, const char* end) {
        const char* left = literal_left_;
        while (at != end && *left != '\0' && *at == *left) ++at, ++left;
        if (*left != '\0') {
            literal_left_ = left;
            return at == end ? at : fail(at, "a value was expected");
        }
        *literal_ == 'n' ? handler_.on_null() : handler_.on_boolean(*literal_ == 't');
        end_value();
        return at;
    }

    Handler handler_;
    State state_ = State::value;
    bool is_key_ = false;  // the current text
    std::size_t depth_ = 0;
    std::array<bool, max_json_depth> is_array_{};
    std::array<char, max_escape_size> escape_{};
    std::size_t escape_size_ = 0;
    JsonNumber number_;
    const char* literal_ = nullptr;
    const char* literal_left_ = nullptr;
    JsonSkip skip_;
    std::string_view problem_;
};

}  // namespace k8s_sd::inline v0::detail
