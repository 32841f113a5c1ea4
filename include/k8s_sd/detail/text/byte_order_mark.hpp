#pragma once

#include "k8s_sd/error.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Forwards UTF-8 in chunks of any size, without the byte order mark at its start, if any.
class ByteOrderMarkFilter {
 public:
    /// Starts a text.
    void begin() noexcept {
        matched_ = 0;
        at_start_ = true;
    }
    /// \param next  receives the text; an error ends the call
    template <class Next>
    error_code feed(std::string_view bytes, const Next& next) {
        if (at_start_) {
            while (matched_ < mark.size() && bytes.starts_with(mark[matched_])) {
                bytes.remove_prefix(1);
                ++matched_;
            }
            if (bytes.empty()) return {};
            if (const error_code ec = finish(next)) return ec;
        }
        return next(bytes);
    }
    /// At the end of the text: forwards an incomplete mark, which is no mark.
    template <class Next>
    error_code finish(const Next& next) {
        const bool incomplete = std::exchange(at_start_, false) && matched_ < mark.size();
        return incomplete && matched_ > 0 ? next(mark.substr(0, matched_)) : error_code();
    }

 private:
    static constexpr std::string_view mark = "\xef\xbb\xbf";

    std::size_t matched_ = 0;  // bytes of the mark
    bool at_start_ = true;
};

}  // namespace k8s_sd::inline v0::detail
