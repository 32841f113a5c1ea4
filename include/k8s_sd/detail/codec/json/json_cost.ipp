#include "k8s_sd/detail/codec/json/json_cost.hpp"
#include "k8s_sd/detail/codec/json/json_parser.hpp"

#include <cstdint>

namespace k8s_sd::inline v0::detail {

namespace {

/// Sums up the memory of values: each takes 24 bytes in its array or object and, before that, in a
/// stack of doubling capacity.
class JsonCost {
 public:
    std::size_t sum() const noexcept { return sum_; }

    static bool passes_over() noexcept { return false; }
    static void on_passing(std::string_view) noexcept {}
    static void on_passed() noexcept {}
    static void on_document_end() noexcept {}
    void on_object_begin() noexcept { sum_ += value + table; }
    static void on_object_end() noexcept {}
    void on_array_begin() noexcept { sum_ += value + table; }
    static void on_array_end() noexcept {}
    void on_key_part(std::string_view part) noexcept { sum_ += 2 * part.size(); }
    void on_key(std::string_view rest) noexcept { sum_ += member + rest.size(); }
    void on_string_part(std::string_view part) noexcept { sum_ += 2 * part.size(); }
    void on_string(std::string_view rest) noexcept {
        sum_ += value + (rest.size() > max_inside ? table + rest.size() : 0);
    }
    void on_integer(std::int64_t) noexcept { sum_ += value; }
    void on_fraction() noexcept { sum_ += value; }
    void on_boolean(bool) noexcept { sum_ += value; }
    void on_null() noexcept { sum_ += value; }

 private:
    static constexpr std::size_t value = 72;
    static constexpr std::size_t table = 48;       // an allocation and its header
    static constexpr std::size_t member = 112;     // the key, its allocation and its index entry
    static constexpr std::size_t max_inside = 14;  // bytes of a string without an allocation

    std::size_t sum_ = 0;
};

}  // namespace

std::optional<std::size_t> json_cost(std::string_view text) {
    JsonParser<JsonCost> parser;
    parser.feed(text);
    if (!parser.problem().empty()) return std::nullopt;
    return parser.handler().sum();
}

}  // namespace k8s_sd::inline v0::detail
