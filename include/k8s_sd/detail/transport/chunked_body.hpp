#pragma once

#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"

#include <boost/beast/http/error.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Chunked transfer coding (RFC 9112 7.1) as parsed by Go's net/http: blanks after a chunk size
/// (padding of some servers) and extensions are ignored. Ambiguous input is an error: a line
/// without CR LF, an invalid size, data beyond the size.
class ChunkedBody {
 public:
    /// \param sink  takes data and returns an error_code; an error ends the call
    /// \return the number of bytes consumed; the others start a line and need more input
    template <class Sink>
    std::size_t put(std::string_view bytes, const Sink& sink, error_code& ec) {
        ec = {};
        std::size_t used = 0;
        while (!ec && !done() && used < bytes.size()) {
            const std::string_view rest = bytes.substr(used);
            const std::size_t taken = part_ == Part::data ? take_data(rest, sink, ec)  //
                                                          : take_line(rest, ec);
            if (taken == 0) break;
            used += taken;
        }
        return used;
    }
    bool done() const noexcept { return part_ == Part::end; }

 private:
    using Error = boost::beast::http::error;
    enum class Part : std::uint8_t { size, data, data_end, trailer, end };

    // Limits as in Go. The trailer is ignored, but it must end.
    static constexpr std::size_t max_line = 4096;
    static constexpr std::size_t max_trailer = 64 * 1024;

    template <class Sink>
    std::size_t take_data(std::string_view bytes, const Sink& sink, error_code& ec) {
        const std::string_view data =
            bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
        left_ -= data.size();
        if (left_ == 0) part_ = Part::data_end;
        ec = sink(data);
        return data.size();
    }
    /// \returns 0 while the line is incomplete
    std::size_t take_line(std::string_view bytes, error_code& ec) {
        const std::size_t end = bytes.substr(0, max_line).find('\n');
        if (end == std::string_view::npos) {
            if (bytes.size() >= max_line) ec = Error::header_limit;
            return 0;
        }
        // Readers disagree on a bare LF, or a CR elsewhere.
        if (end == 0 || bytes.find('\r') != end - 1) {
            ec = Error::bad_line_ending;
        } else {
            ec = read_line(bytes.substr(0, end - 1));
        }
        return end + 1;
    }
    error_code read_line(std::string_view line) {
        switch (part_) {
            case Part::size: return read_size(line);
            case Part::data_end:
                if (!line.empty()) return Error::bad_chunk;
                part_ = Part::size;
                return {};
            default: return read_trailer(line);
        }
    }
    error_code read_size(std::string_view line) {
        constexpr std::size_t max_digits = 16;
        constexpr auto max_size =
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        std::string_view digits = line.substr(0, line.find(';'));
        while (!digits.empty() && (digits.back() == ' ' || digits.back() == '\t')) {
            digits.remove_suffix(1);
        }
        const char* const end = digits.data() + digits.size();
        const auto [last, error] = std::from_chars(digits.data(), end, left_, 16);
        if (error != std::errc() || last != end) return Error::bad_chunk;
        if (digits.size() > max_digits || left_ > max_size) return Error::bad_chunk;
        part_ = left_ == 0 ? Part::trailer : Part::data;
        return {};
    }
    error_code read_trailer(std::string_view line) {
        trailer_ += line.size();
        if (trailer_ > max_trailer) return Error::header_limit;
        if (line.empty()) {
            part_ = Part::end;
        } else if (const std::size_t colon = line.find(':'); colon == 0 || colon == line.npos) {
            return Error::bad_field;
        }
        return {};
    }

    Part part_ = Part::size;
    std::uint64_t left_ = 0;   ///< of the data of the chunk
    std::size_t trailer_ = 0;  ///< bytes
};

}  // namespace k8s_sd::inline v0::detail
