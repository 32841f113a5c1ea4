#include "sim/api/shard_selector.hpp"

#include "k8s_sd/detail/base/hash.hpp"
#include "sim/api/status.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <optional>

namespace k8s_sd::inline v0::sim {
namespace {

constexpr std::string_view uid_field = "object.metadata.uid";
constexpr std::string_view namespace_field = "object.metadata.namespace";
constexpr std::string_view end_of_all = "0x10000000000000000";

/// "0x" and 16 lower-case digits.
std::optional<std::uint64_t> hex(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (text.size() != 18 || !text.starts_with("0x")) return std::nullopt;
    text.remove_prefix(2);
    if (text.find_first_not_of(digits) != std::string_view::npos) return std::nullopt;
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
}

/// "0x00000000000000ff"
std::string to_hex(std::uint64_t value) {
    std::array<char, 19> text{};
    std::snprintf(text.data(), text.size(), "0x%016llx", static_cast<unsigned long long>(value));
    return text.data();
}

}  // namespace

class ShardSelectorParser {
 public:
    explicit ShardSelectorParser(std::string_view text) : text_(text), rest_(text) {}

    ShardSelector parse() {
        do {
            term();
        } while (take("||"));
        if (!rest_.empty()) refuse("only shardRange() joined by || is supported");
        return std::move(selector_);
    }

 private:
    void term() {
        expect("shardRange");
        expect("(");
        const auto field = this->field();
        if (!selector_.ranges_.empty() && field != selector_.field_) {
            refuse("all ranges must be of the same field");
        }
        selector_.field_ = field;
        expect(",");
        const std::string_view start = quoted();
        expect(",");
        const std::string_view end = quoted();
        expect(")");
        selector_.ranges_.push_back(range(start, end));
    }

    ShardSelector::Field field() {
        if (take(uid_field)) return ShardSelector::Field::uid;
        if (take(namespace_field)) return ShardSelector::Field::ns;
        refuse("unsupported field");
    }

    ShardSelector::Range range(std::string_view start, std::string_view end) const {
        const auto first = hex(start);
        const auto behind = end == end_of_all ? std::uint64_t{0} : hex(end);
        if (!first || !behind) refuse("a bound is not 0x and 16 hexadecimal digits");
        const bool to_the_end = end == end_of_all;
        if (!to_the_end && *first >= *behind) refuse("a range must begin before it ends");
        return {*first, *behind - 1};
    }

    std::string_view quoted() {
        const std::string_view quote = take("'") ? "'" : "\"";
        if (quote == "\"") expect("\"");
        const std::string_view text = rest_.substr(0, rest_.find(quote));
        rest_.remove_prefix(text.size());
        expect(quote);
        return text;
    }

    bool take(std::string_view token) {
        skip_spaces();
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        skip_spaces();
        return true;
    }
    void skip_spaces() {
        rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(" \t\r\n")));
    }
    void expect(std::string_view token) {
        if (!take(token)) refuse("expected " + std::string(token));
    }
    [[noreturn]] void refuse(const std::string& why) const {
        // A plain error of Go without a reason: the server reports it as an internal error.
        fail(500, "", "failed to parse shard selector \"" + std::string(text_) + "\": " + why);
    }

    std::string_view text_;
    std::string_view rest_;
    ShardSelector selector_;
};

ShardSelector ShardSelector::parse(std::string_view text) {
    return ShardSelectorParser(text).parse();
}

bool ShardSelector::matches(const Object& object) const {
    const std::uint64_t hash =
        field_ == Field::uid ? object.uid_hash() : detail::fnv1a64(object.ns());
    return std::any_of(ranges_.begin(), ranges_.end(), [hash](const Range& range) {
        return range.first <= hash && hash <= range.last;
    });
}

std::string ShardSelector::canonical() const {
    std::string text;
    for (const Range& range : ranges_) {
        const bool to_the_end = range.last == std::numeric_limits<std::uint64_t>::max();
        if (!text.empty()) text += " || ";
        text += "shardRange(";
        text += field_ == Field::uid ? uid_field : namespace_field;
        text += ", '" + to_hex(range.first) + "', '";
        text += to_the_end ? std::string(end_of_all) : to_hex(range.last + 1);
        text += "')";
    }
    return text;
}

}  // namespace k8s_sd::inline v0::sim
