#pragma once

#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Whether the line is "HTTP/1.1 200" without a blank after the number.
inline bool ends_behind_status(std::string_view line) {
    constexpr std::string_view example = "HTTP/1.1 200";
    return line.size() == example.size() && line.starts_with("HTTP/1.") && line[8] == ' ' &&
           std::all_of(line.begin() + 9, line.end(), is_digit);
}

inline std::size_t count_of(std::string_view text, char c) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

/// Finds the end of a response head with lines ending in CR LF or LF.
class HeadEnd {
 public:
    /// \param bytes  the head so far, at least the bytes of the previous call
    /// \return the size of the head including its empty line; 0: incomplete
    std::size_t find(std::string_view bytes) noexcept {
        for (;;) {
            const std::size_t line_end = bytes.find('\n', next_);
            if (line_end == std::string_view::npos) break;
            const std::string_view rest = bytes.substr(line_end + 1);
            if (rest.starts_with('\n')) return line_end + 2;
            if (rest.starts_with("\r\n")) return line_end + 3;
            // Two more bytes decide whether the next line is empty.
            next_ = line_end;
            if (rest.size() < 2) return 0;
            ++next_;
        }
        next_ = bytes.size();
        return 0;
    }

 private:
    std::size_t next_ = 0;  ///< all earlier lines are followed by another one
};

/// Normalizes a head to RFC 9112; nullopt: already valid, or to be refused. Like Go's net/http, it
/// accepts lines ending in LF, and a status line ending after the number. A head with mixed line
/// endings is left for the parser to refuse, as a sign of request smuggling.
inline std::optional<std::string> mend_head(std::string_view head) {
    const bool bare_feeds = count_of(head, '\r') == 0;
    const std::string_view first = head.substr(0, head.find(bare_feeds ? '\n' : '\r'));
    const bool short_status = ends_behind_status(first);
    if (!bare_feeds && !short_status) return std::nullopt;
    std::string mended;
    mended.reserve(head.size() + (bare_feeds ? count_of(head, '\n') : 0) + 1);
    (mended += first) += short_status ? " " : "";
    for (const char c : head.substr(first.size())) {
        if (bare_feeds && c == '\n') mended += '\r';
        mended += c;
    }
    return mended;
}

}  // namespace k8s_sd::inline v0::detail
