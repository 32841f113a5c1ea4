#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/response_head_text.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

/// Whether the line is "HTTP/1.1 200" without a blank after the number.
bool ends_behind_status(std::string_view line) {
    constexpr std::string_view example = "HTTP/1.1 200";
    return line.size() == example.size() && line.starts_with("HTTP/1.") && line[8] == ' ' &&
           std::all_of(line.begin() + 9, line.end(), is_digit);
}

std::size_t count_of(std::string_view text, char c) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

}  // namespace

std::optional<std::string> mend_head(std::string_view head) {
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
