#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Finds the end of the head of a response, whose lines end with CR LF or with LF.
class HeadEnd {
 public:
    /// \param bytes  of the head, at least those of the call before
    /// \return the size of the head with the empty line behind it; 0: it has not ended yet
    std::size_t find(std::string_view bytes) noexcept {
        for (;;) {
            const std::size_t line_end = bytes.find('\n', next_);
            if (line_end == std::string_view::npos) break;
            const std::string_view rest = bytes.substr(line_end + 1);
            if (rest.starts_with('\n')) return line_end + 2;
            if (rest.starts_with("\r\n")) return line_end + 3;
            // Two more bytes say whether the next line is empty.
            next_ = line_end;
            if (rest.size() < 2) return 0;
            ++next_;
        }
        next_ = bytes.size();
        return 0;
    }

 private:
    std::size_t next_ = 0;  ///< no line ended before that without one behind it
};

/// A head as RFC 9112 asks for it: nullopt if it is so already, or is to be refused. As Go's
/// net/http does, it may have lines that end with LF, and a status line that ends behind the
/// number. A head with both ends of lines stays as it is, for the parser to refuse: so looks one
/// into which a line was smuggled.
std::optional<std::string> mend_head(std::string_view head);

}  // namespace k8s_sd::inline v0::detail
