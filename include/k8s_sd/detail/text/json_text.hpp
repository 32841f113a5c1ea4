#pragma once

#include "k8s_sd/error.hpp"

#include <boost/json/object.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A string member; empty if missing or of another type.
inline std::string_view json_text(const boost::json::object& object, std::string_view name) {
    const boost::json::value* value = object.if_contains({name.data(), name.size()});
    const boost::json::string* text = value ? value->if_string() : nullptr;
    return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

/// A JSON escape sequence at the start of a text.
struct JsonEscape {
    std::size_t size = 0;  ///< 0: more input is needed
    bool lone = false;     ///< half a surrogate pair
};

/// \param text  begins with a backslash. The parser itself refuses invalid escapes.
inline JsonEscape json_escape(std::string_view text) noexcept {
    constexpr std::size_t size = 6;  // \uXXXX
    constexpr std::size_t pair = 2 * size;
    const auto hexadecimal = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    // 'd' and the digit after it; an error in later characters does not matter here.
    const auto surrogate = [&](std::size_t at, std::string_view digits) {
        return (text[at] == 'd' || text[at] == 'D') && digits.find(text[at + 1]) != digits.npos;
    };
    if (text.size() < 2) return {};
    if (text[1] != 'u') return {2};
    if (text.size() < size) return {};
    for (std::size_t i = 2; i < size; ++i) {
        if (!hexadecimal(text[i])) return {2};
    }
    if (surrogate(2, "cdefCDEF")) return {size, true};
    if (!surrogate(2, "89abAB")) return {size};
    for (const auto& [at, expected] : {std::pair(size, '\\'), std::pair(size + 1, 'u')}) {
        if (text.size() == at) return {};
        if (text[at] != expected) return {size, true};
    }
    if (text.size() < pair) return {};
    const bool complete = surrogate(size + 2, "cdefCDEF") && hexadecimal(text[pair - 2]) &&
                          hexadecimal(text[pair - 1]);
    return complete ? JsonEscape{pair} : JsonEscape{size, true};
}

/// Forwards JSON with U+FFFD for each escape of half a surrogate pair, as Go decodes it. The parser
/// would refuse the whole document. Only an escape at the end of a chunk is copied.
class SurrogateFilter {
 public:
    void clear() noexcept { held_.clear(); }

    /// \param next  receives the text; an error ends the call
    template <class Next>
    error_code feed(std::string_view bytes, const Next& next) {
        while (!held_.empty() && !bytes.empty()) {
            held_ += bytes.front();
            bytes.remove_prefix(1);
            if (const error_code ec = hand_on_held(next)) return ec;
        }
        for (std::size_t at = 0; (at = bytes.find('\\', at)) != bytes.npos;) {
            const JsonEscape escape = json_escape(bytes.substr(at));
            if (escape.size == 0) {
                held_ = bytes.substr(at);
                bytes = bytes.substr(0, at);
                break;
            }
            if (escape.lone) {
                if (const error_code ec = next(bytes.substr(0, at))) return ec;
                if (const error_code ec = next(replacement)) return ec;
                bytes.remove_prefix(at + escape.size);
                at = 0;
            } else {
                at += escape.size;
            }
        }
        return next(bytes);
    }
    /// At the end of the body: forwards the incomplete escape, if any.
    template <class Next>
    error_code finish(const Next& next) {
        return next(std::exchange(held_, {}));
    }

 private:
    static constexpr std::string_view replacement = "\\uFFFD";

    template <class Next>
    error_code hand_on_held(const Next& next) {
        while (!held_.empty()) {
            const JsonEscape escape =
                held_.front() == '\\' ? json_escape(held_) : JsonEscape{held_.size()};
            if (escape.size == 0) return {};
            const std::string text = held_.substr(0, escape.size);
            held_.erase(0, escape.size);
            if (const error_code ec = next(escape.lone ? replacement : text)) return ec;
        }
        return {};
    }

    std::string held_;  // an incomplete escape at the end of the last chunk, at most 11 bytes
};

/// The same filter for a whole document.
inline std::string without_lone_surrogates(std::string_view json) {
    std::string mended;
    const auto append = [&](std::string_view part) {
        mended += part;
        return error_code();
    };
    SurrogateFilter surrogates;
    surrogates.feed(json, append);
    surrogates.finish(append);
    return mended;
}

}  // namespace k8s_sd::inline v0::detail
