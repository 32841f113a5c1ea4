#include "k8s_sd/detail/base/did_you_mean.hpp"
#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/base/utf8.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"
#include "k8s_sd/error.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

namespace k8s_sd::inline v0::detail {

namespace {

std::string place(const std::string& file, int line) { return file + ":" + std::to_string(line); }

int line_of_offset(std::string_view text, std::size_t offset) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
    return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

void check_text(std::string_view text, const std::string& file) {
    if (const std::size_t bad = find_invalid_utf8(text); bad != text.size()) {
        throw ConfigError(place(file, line_of_offset(text, bad)), "the text is not UTF-8");
    }
    const auto control = std::find_if(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    });
    if (control != text.end()) {
        const auto offset = static_cast<std::size_t>(control - text.begin());
        throw ConfigError(place(file, line_of_offset(text, offset)),
                          "the text contains a control character");
    }
}

/// At a character that begins nothing, such as a comma at the beginning of a line, yaml-cpp finds
/// empty documents without end. Each document must begin behind the previous one.
class ProgressCheck final : public YAML::EventHandler {
 public:
    void OnDocumentStart(const YAML::Mark& mark) override {
        if (mark.pos == last_) throw YAML::ParserException(mark, "unexpected character");
        last_ = mark.pos;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}

 private:
    int last_ = -1;
};

void check_progress(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    ProgressCheck check;
    while (parser.HandleNextDocument(check)) {
    }
}

std::vector<YAML::Node> load_documents(std::string_view text, const std::string& file) {
    // yaml-cpp takes a quoted scalar that never ends for one that ends with the file; the
    // document end marker makes it an error.
    const std::string terminated = std::string(text) + (text.ends_with('\n') ? "...\n" : "\n...\n");
    try {
        check_progress(terminated);
        return YAML::LoadAll(terminated);
    } catch (const YAML::DeepRecursion& e) {
        throw ConfigError(place(file, e.mark.line + 1), "the YAML is nested too deep");
    } catch (const YAML::Exception& e) {
        const int last_line = line_of_offset(text, text.size());
        throw ConfigError(place(file, std::min(e.mark.line + 1, last_line)),
                          "YAML syntax: " + e.msg);
    }
}

/// A key as it may stand in a message. What is no plain name may be half of a misspelt
/// "token:secret", or made to forge log lines.
std::string printable_key(const std::string& key) {
    const auto plain = [](char c) {
        return is_alphanumeric(c) || std::string_view("_-./<").find(c) != std::string_view::npos;
    };
    return key.size() <= 48 && std::all_of(key.begin(), key.end(), plain) ? key : "?";
}

template <class Number, class... Options>
std::optional<Number> number(std::string_view text, Options... options) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, value, options...);
    if (error != std::errc{} || last != end) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> with_base(std::string_view digits) {
    if (digits.size() < 2 || digits[0] != '0') return number<std::uint64_t>(digits, 10);
    switch (digits[1]) {
        case 'x':
        case 'X': return number<std::uint64_t>(digits.substr(2), 16);
        case 'o':
        case 'O': return number<std::uint64_t>(digits.substr(2), 8);
        case 'b':
        case 'B': return number<std::uint64_t>(digits.substr(2), 2);
        default: return number<std::uint64_t>(digits.substr(1), 8);
    }
}

/// In the spellings that Go's YAML takes: 16, 1_000, 0x10, 0o20, 020, 0b10000, also 1e3 and 16.0.
std::optional<std::uint64_t> whole_number(std::string text) {
    if (text.starts_with('+')) text.erase(0, 1);
    if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
    std::erase(text, '_');
    if (const auto value = with_base(text)) return value;
    const auto value = number<double>(text);
    if (!value || *value != std::floor(*value) || *value >= 0x1p64) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
}

/// Far beyond what people write; bounds the work for anchors that are merged again and again.
constexpr std::size_t most_merged = 1'000;

/// As text, in quotes, it is a key like others.
bool is_merge_key(const YAML::Node& key) { return key.Scalar() == "<<" && key.Tag() != "!"; }

}  // namespace

YamlValue YamlValue::parse(std::string_view text, const std::string& file) {
    check_text(text, file);
    const std::vector<YAML::Node> documents = load_documents(text, file);
    YAML::Node root;
    for (const YAML::Node& document : documents) {
        if (document.IsNull()) continue;
        if (!root.IsNull()) {
            throw ConfigError(place(file, document.Mark().line + 1),
                              "there is a second YAML document; one is allowed");
        }
        root.reset(document);
    }
    return YamlValue(root, file, root.IsNull() ? 1 : root.Mark().line + 1, "");
}

std::string YamlValue::where() const {
    return place(printable(file_), line_) + (path_.empty() ? "" : ": " + path_);
}

void YamlValue::fail(const std::string& problem) const { throw ConfigError(where(), problem); }

bool YamlValue::is_empty() const {
    return node_.IsScalar() ? node_.Scalar().empty() : node_.size() == 0;
}

std::string YamlValue::string() const {
    if (is_null()) return {};
    if (!node_.IsScalar()) fail("must be a text");
    const std::string& text = node_.Scalar();
    // The document is; but yaml-cpp makes half a character of an escape such as "\_".
    if (!is_utf8(text)) fail("is not UTF-8; write characters as they are or as \\u....");
    return text;
}

std::optional<bool> YamlValue::as_boolean() const {
    bool value = false;
    if (!is_plain() || !YAML::convert<bool>::decode(node_, value)) return std::nullopt;
    return value;
}

bool YamlValue::boolean() const {
    if (is_null()) return false;
    const std::optional<bool> value = as_boolean();
    if (!value) fail("must be true or false");
    return *value;
}

std::uint64_t YamlValue::unsigned_integer() const {
    if (is_null()) return 0;
    const auto value = is_plain() ? whole_number(node_.Scalar()) : std::nullopt;
    if (!value) fail("must be a whole number from 0 to 18446744073709551615");
    return *value;
}

std::vector<YamlValue> YamlValue::items() const {
    if (is_null()) return {};
    if (!node_.IsSequence()) fail("must be a list");
    std::vector<YamlValue> result;
    for (const auto& item : node_) {
        const std::string index = "[" + std::to_string(result.size()) + "]";
        result.push_back(YamlValue(item, file_, item.Mark().line + 1, path_ + index));
    }
    return result;
}

YamlValue YamlValue::child(const YAML::Node& node, int line, const std::string& key) const {
    const std::string name = printable_key(key);
    return YamlValue(node, file_, line, path_.empty() ? name : path_ + "." + name);
}

/// The entries of a mapping while they are collected.
struct YamlValue::Entries {
    std::vector<Entry> list;
    std::set<std::string, std::less<>> names;
    std::size_t merged = 0;  ///< visited in other mappings
};

std::vector<YamlValue::Entry> YamlValue::entries() const {
    if (is_null()) return {};
    if (!node_.IsMap()) fail("must be a mapping of keys to values");
    Entries all;
    add_entries(all);
    return std::move(all.list);
}

void YamlValue::add_entries(Entries& all) const {
    std::set<std::string_view> own;
    std::vector<YamlValue> merges;
    for (const auto& entry : node_) {
        const int line = entry.first.Mark().line + 1;
        if (!entry.first.IsScalar()) child(entry.first, line, "?").fail("a key must be a text");
        const std::string& key = entry.first.Scalar();
        if (!is_utf8(key)) child(entry.first, line, "?").fail("a key must be UTF-8");
        const YamlValue value = child(entry.second, line, key);
        if (!own.insert(key).second) value.fail("is there twice");
        if (is_merge_key(entry.first)) {
            merges.push_back(value);
        } else if (all.names.insert(key).second) {
            all.list.emplace_back(key, value);
        }
    }
    for (const YamlValue& value : merges) value.merge_into(*this, all);
}

void YamlValue::merge_into(const YamlValue& mapping, Entries& all) const {
    const auto merge = [&](const YAML::Node& source) {
        if (!source.IsMap()) fail("must be a mapping, or a list of mappings, to take keys from");
        // An anchor can be merged many times, and into itself.
        all.merged += 1 + source.size();
        if (all.merged > most_merged) fail("takes too many keys from other mappings");
        YamlValue(source, file_, line_, mapping.path_).add_entries(all);
    };
    if (!node_.IsSequence()) return merge(node_);
    for (const auto& item : node_) merge(item);
}

bool YamlValue::has(std::string_view key) const {
    const std::vector<Entry> all = entries();
    return std::any_of(all.begin(), all.end(), [&](const Entry& e) { return e.first == key; });
}

YamlValue YamlValue::operator[](std::string_view key) const {
    for (const Entry& entry : entries()) {
        if (entry.first == key) return entry.second;
    }
    return child(YAML::Node(), line_, std::string(key));
}

void YamlValue::allow_only(std::span<const std::string_view> keys,
                           std::span<const std::string_view> shown) const {
    for (const auto& [key, value] : entries()) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        value.fail("unknown key; allowed are " + join(shown) + did_you_mean(key, keys));
    }
}

}  // namespace k8s_sd::inline v0::detail
