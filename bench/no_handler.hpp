#pragma once

#include <boost/json/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace bench {

/// A handler for Boost.JSON's push parser that does nothing: the cost of parsing every byte.
struct NoHandler {
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    using ec = boost::system::error_code;
    using sv = boost::json::string_view;
    bool on_document_begin(ec&) { return true; }
    bool on_document_end(ec&) { return true; }
    bool on_object_begin(ec&) { return true; }
    bool on_object_end(std::size_t, ec&) { return true; }
    bool on_array_begin(ec&) { return true; }
    bool on_array_end(std::size_t, ec&) { return true; }
    bool on_key_part(sv, std::size_t, ec&) { return true; }
    bool on_key(sv, std::size_t, ec&) { return true; }
    bool on_string_part(sv, std::size_t, ec&) { return true; }
    bool on_string(sv, std::size_t, ec&) { return true; }
    bool on_number_part(sv, ec&) { return true; }
    bool on_int64(std::int64_t, sv, ec&) { return true; }
    bool on_uint64(std::uint64_t, sv, ec&) { return true; }
    bool on_double(double, sv, ec&) { return true; }
    bool on_bool(bool, ec&) { return true; }
    bool on_null(ec&) { return true; }
    bool on_comment_part(sv, ec&) { return true; }
    bool on_comment(sv, ec&) { return true; }
};

}  // namespace bench
