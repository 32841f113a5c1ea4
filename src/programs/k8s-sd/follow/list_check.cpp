#include "follow/list_check.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace k8s_sd_program {

namespace {

using boost::json::error;
using boost::system::error_code;
using Part = boost::json::string_view;

/// Tracks the position in a list while parsing, and stores nothing of it.
class Checker {
 public:
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_array_begin(error_code& ec) {
        if (place_ == Place::outside) return go(Place::list);
        if (place_ == Place::group && key_ == "targets") return go(Place::targets);
        return refuse(ec);
    }
    bool on_array_end(std::size_t, error_code&) {
        return go(place_ == Place::targets ? Place::group : Place::outside);
    }
    bool on_object_begin(error_code& ec) {
        if (place_ == Place::list) {
            targets_ = labels_ = false;
            return go(Place::group);
        }
        if (place_ == Place::group && key_ == "labels") return go(Place::labels);
        return refuse(ec);
    }
    bool on_object_end(std::size_t, error_code&) {
        return go(place_ == Place::labels ? Place::group : Place::list);
    }
    bool on_key_part(Part part, std::size_t, error_code&) {
        if (place_ == Place::group && key_part_.size() < kept_key_size) key_part_ += part;
        return true;
    }
    bool on_key(Part part, std::size_t size, error_code& ec) {
        if (place_ == Place::labels) return size != 0 || refuse(ec);
        on_key_part(part, size, ec);
        key_.swap(key_part_);
        key_part_.clear();
        bool& seen = key_ == "targets" ? targets_ : labels_;
        if (seen || (key_ != "targets" && key_ != "labels")) return refuse(ec);
        return seen = true;
    }
    bool on_string_part(Part, std::size_t, error_code& ec) { return on_text(ec); }
    bool on_string(Part, std::size_t, error_code& ec) { return on_text(ec); }
    bool on_number_part(Part, error_code& ec) { return refuse(ec); }
    bool on_int64(std::int64_t, Part, error_code& ec) { return refuse(ec); }
    bool on_uint64(std::uint64_t, Part, error_code& ec) { return refuse(ec); }
    bool on_double(double, Part, error_code& ec) { return refuse(ec); }
    bool on_bool(bool, error_code& ec) { return refuse(ec); }
    bool on_null(error_code& ec) { return refuse(ec); }
    bool on_comment_part(Part, error_code&) { return true; }
    bool on_comment(Part, error_code&) { return true; }

 private:
    enum class Place : std::uint8_t { outside, list, group, targets, labels };
    static constexpr std::size_t kept_key_size = 16;

    bool go(Place place) {
        place_ = place;
        return true;
    }
    bool on_text(error_code& ec) {
        return place_ == Place::targets || place_ == Place::labels || refuse(ec);
    }
    static bool refuse(error_code& ec) {
        ec = error::syntax;
        return false;
    }

    Place place_ = Place::outside;
    std::string key_;       // of the group
    std::string key_part_;  // of a key being read
    bool targets_ = false;  // the group has targets
    bool labels_ = false;
};

}  // namespace

bool is_list(std::string_view json) {
    boost::json::basic_parser<Checker> parser{boost::json::parse_options()};
    error_code ec;
    const std::size_t read = parser.write_some(false, json.data(), json.size(), ec);
    return !ec && parser.done() &&
           json.find_first_not_of(" \t\r\n", read) == std::string_view::npos;
}

std::string for_files(std::string list) {
    // In JSON a % occurs only in strings, and no escape sequence ends in one.
    for (std::size_t at = list.find("%{"); at != list.npos; at = list.find("%{", at)) {
        list.replace(at, 1, "\\u0025");
    }
    return list;
}

}  // namespace k8s_sd_program
