#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/text/decimal.hpp"
#include "k8s_sd/detail/text/did_you_mean.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

namespace k8s_sd::inline v0::detail {

namespace {

/// A key for a message. Hides any other text: it may be part of a misspelt "token:secret", or made
/// to forge log lines.
std::string_view printable_key(std::string_view key) {
    const auto plain = [](char c) {
        return is_alphanumeric(c) || std::string_view("_-./<").find(c) != std::string_view::npos;
    };
    const bool shown = key.size() <= 48 && std::all_of(key.begin(), key.end(), plain);
    return shown ? key : "?";
}

void append_path(const YamlStep& step, std::string& path) {
    if (!step.parent) {
        path += step.key;
        return;
    }
    append_path(*step.parent, path);
    if (step.index != YamlStep::no_index) {
        path.append("[").append(std::to_string(step.index)).append("]");
    } else {
        path.append(path.empty() ? "" : ".").append(printable_key(step.key));
    }
}

std::optional<std::uint64_t> number(std::string_view text, int base) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc{} || last != end) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> with_base(std::string_view digits) {
    if (digits.size() < 2 || digits[0] != '0') return number(digits, 10);
    switch (digits[1]) {
        case 'x':
        case 'X': return number(digits.substr(2), 16);
        case 'o':
        case 'O': return number(digits.substr(2), 8);
        case 'b':
        case 'B': return number(digits.substr(2), 2);
        default: return number(digits.substr(1), 8);
    }
}

/// Accepts the spellings of Go's YAML: 16, 1_000, 0x10, 0o20, 020, 0b10000, also 1e3 and 16.0.
std::optional<std::uint64_t> whole_number(std::string text) {
    if (text.starts_with('+')) text.erase(0, 1);
    if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
    std::erase(text, '_');
    if (const auto value = with_base(text)) return value;
    const auto value = parse_decimal(text);
    if (!value || *value != std::floor(*value) || *value >= 0x1p64) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
}

/// YAML 1.1: y, yes, true, on and their opposites, in lower case, upper case or capitalised.
std::optional<bool> truth(std::string_view text) {
    constexpr std::array<std::string_view, 4> yes{"y", "yes", "true", "on"};
    constexpr std::array<std::string_view, 4> no{"n", "no", "false", "off"};
    if (text.empty() || text.size() > 5) return std::nullopt;
    const std::string lower = lower_case(text);
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const bool one_case = std::all_of(text.begin(), text.end(), is_upper) ||
                          std::none_of(text.begin() + 1, text.end(), is_upper);
    if (!one_case) return std::nullopt;
    if (std::find(yes.begin(), yes.end(), lower) != yes.end()) return true;
    if (std::find(no.begin(), no.end(), lower) != no.end()) return false;
    return std::nullopt;
}

/// Far beyond hand-written files; bounds the work for repeatedly merged anchors.
constexpr std::size_t max_merged = 1'000;

/// In quotes, "<<" is an ordinary key.
bool is_merge_key(const YamlNode& key) { return key.text == "<<" && key.plain; }

}  // namespace

/// A set optimized for few keys, as in most mappings.
class YamlKeyNames {
 public:
    /// \returns false if the name is already present
    bool insert(std::string_view name) {
        const auto end = few_.begin() + static_cast<std::ptrdiff_t>(size_);
        if (std::find(few_.begin(), end, name) != end) return false;
        if (size_ == few_.size()) return many_.insert(name).second;
        few_[size_++] = name;
        return true;
    }

 private:
    std::array<std::string_view, 16> few_;
    std::size_t size_ = 0;
    std::set<std::string_view> many_;
};

YamlValue YamlValue::parse(std::string_view text, const std::string& file) {
    auto document = parse_yaml(text, file);
    const YamlNode* root = document->root();
    return YamlValue(std::move(document), root, root ? root->line : 1, YamlStep{});
}

YamlValue YamlValue::of(std::shared_ptr<const YamlDocument> document) {
    const YamlNode* const root = document->root();
    return YamlValue(std::move(document), root, 1, {});
}

std::string YamlValue::path() const {
    std::string path;
    append_path(step_, path);
    return path;
}

const YamlStep* YamlValue::way() const {
    if (!way_) way_ = document_->keep(step_);
    return way_;
}

std::string YamlValue::where() const {
    std::string place = printable(document_->file()) + ":" + std::to_string(line_);
    if (const std::string way = path(); !way.empty()) place.append(": ").append(way);
    return place;
}

void YamlValue::fail(const std::string& problem) const { throw ConfigError(where(), problem); }

bool YamlValue::is_empty() const {
    return is_null() || (is_scalar() ? node_->text.empty() : node_->parts.empty());
}

std::string YamlValue::string() const {
    if (is_null()) return {};
    if (!is_scalar()) fail("must be a text");
    spend(node_->text.size());
    return std::string(node_->text);
}

std::optional<bool> YamlValue::as_boolean() const {
    return is_plain() ? truth(node_->text) : std::nullopt;
}

bool YamlValue::boolean() const {
    if (is_null()) return false;
    const std::optional<bool> value = as_boolean();
    if (!value) fail("must be true or false");
    return *value;
}

std::uint64_t YamlValue::unsigned_integer() const {
    if (is_null()) return 0;
    const auto value = as_unsigned_integer();
    if (!value) fail("must be a whole number from 0 to 18446744073709551615");
    return *value;
}

std::optional<std::uint64_t> YamlValue::as_unsigned_integer() const {
    return is_plain() ? whole_number(std::string(node_->text)) : std::nullopt;
}

std::vector<YamlValue> YamlValue::items() const {
    if (is_null()) return {};
    if (!is_sequence()) fail("must be a list");
    spend(yaml_value_bytes * node_->parts.size());
    std::vector<YamlValue> result;
    result.reserve(node_->parts.size());
    for (const YamlNode* item : node_->parts) {
        result.push_back(YamlValue(document_, item, item->line, {way(), {}, result.size()}));
    }
    return result;
}

YamlValue YamlValue::child(const YamlNode* node, int line, std::string_view key) const {
    return YamlValue(document_, node, line, {way(), key});
}

void YamlValue::spend(std::size_t bytes) const {
    if (!document_->spend(bytes)) fail("anchors expand to too much");
}

/// The entries of a mapping being collected.
struct YamlValue::Merging {
    std::vector<const YamlNode*> list;  ///< alternating keys and values
    YamlKeyNames names;
    std::size_t merged = 0;  ///< entries visited in other mappings
};

YamlParts YamlValue::merged_entries() const {
    if (is_null()) return {};
    if (!is_mapping()) fail("must be a mapping of keys to values");
    if (node_->complete) return node_->parts;
    if (check_keys()) {
        Merging all;
        add_entries(all);
        spend(yaml_value_bytes * (all.list.size() / 2 + all.merged));
        node_->parts = document_->keep(YamlParts(all.list));
    } else {
        spend(yaml_value_bytes * node_->parts.size() / 2);
    }
    node_->complete = true;
    return node_->parts;
}

bool YamlValue::check_keys() const {
    YamlKeyNames names;
    bool merges = false;
    for (std::size_t i = 0; i < node_->parts.size(); i += 2) {
        const YamlNode& key = *node_->parts[i];
        const bool is_text = key.kind == YamlNode::Kind::scalar;
        if (!is_text) child(&key, key.line, "?").fail("a key must be a text");
        if (!names.insert(key.text)) child(&node_->parts[i]).fail("is there twice");
        merges |= is_merge_key(key);
    }
    return merges;
}

std::vector<YamlValue::KeyValue> YamlValue::entries() const {
    const YamlParts all = merged_entries();
    spend(yaml_value_bytes * all.size() / 2);
    std::vector<KeyValue> result;
    result.reserve(all.size() / 2);
    for (std::size_t i = 0; i < all.size(); i += 2) {
        result.emplace_back(all[i]->text, child(&all[i]));
    }
    return result;
}

void YamlValue::add_entries(Merging& all) const {
    check_keys();
    std::vector<YamlValue> merges;
    for (std::size_t i = 0; i < node_->parts.size(); i += 2) {
        const YamlNode* const* const entry = &node_->parts[i];
        if (is_merge_key(*entry[0])) {
            merges.push_back(child(entry));
        } else if (all.names.insert(entry[0]->text)) {
            all.list.insert(all.list.end(), entry, entry + 2);
        }
    }
    for (const YamlValue& value : merges) value.merge_into(*this, all);
}

void YamlValue::merge_into(const YamlValue& mapping, Merging& all) const {
    const auto merge = [&](const YamlNode* source) {
        if (source->kind != YamlNode::Kind::mapping) {
            fail("must be a mapping, or a list of mappings, to take keys from");
        }
        // An anchor can be merged many times, even into itself.
        all.merged += 1 + source->parts.size() / 2;
        if (all.merged > max_merged) fail("takes too many keys from other mappings");
        YamlValue(document_, source, line_, mapping.step_).add_entries(all);
    };
    if (!is_sequence()) return merge(node_);
    for (const YamlNode* item : node_->parts) merge(item);
}

const YamlNode* const* YamlValue::find(std::string_view key) const {
    const YamlParts all = merged_entries();
    for (std::size_t i = 0; i < all.size(); i += 2) {
        if (all[i]->text == key) return &all[i];
    }
    return nullptr;
}

bool YamlValue::has(std::string_view key) const { return find(key) != nullptr; }

YamlValue YamlValue::operator[](std::string_view key) const {
    const YamlNode* const* const entry = find(key);
    return entry ? child(entry) : child(nullptr, line_, document_->keep(key));
}

void YamlValue::allow_only(std::span<const std::string_view> keys,
                           std::span<const std::string_view> shown) const {
    const YamlParts all = merged_entries();
    for (std::size_t i = 0; i < all.size(); i += 2) {
        const std::string_view key = all[i]->text;
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        child(&all[i]).fail_unknown_key(key, keys, shown);
    }
}

void YamlValue::fail_unknown_key(std::string_view key, std::span<const std::string_view> keys,
                                 std::span<const std::string_view> shown) const {
    fail("unknown key" + did_you_mean(key, keys) + "; allowed are " + join(shown));
}

}  // namespace k8s_sd::inline v0::detail
