#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/scrape/handed_keys.hpp"
#include "k8s_sd/detail/text/decimal.hpp"
#include "k8s_sd/detail/text/did_you_mean.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

bool has_key(const std::vector<std::string_view>& keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

const HandedKey* find_key(std::span<const HandedKey> keys, std::string_view name) {
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const HandedKey& k) { return k.name == name; });
    return key == keys.end() ? nullptr : &*key;
}

std::vector<std::string_view> names_of(const KnownKeys& known) {
    std::vector<std::string_view> names = known.used;
    names.insert(names.end(), known.client.begin(), known.client.end());
    for (const HandedKey& key : known.handed) names.push_back(key.name);
    return names;
}

void check_number(const YamlValue& value) {
    if (!value.is_plain() || !parse_decimal(value.string())) value.fail("must be a number");
}

constexpr std::array<std::string_view, 13> size_units{"B",  "KB",  "KiB", "MB",  "MiB", "GB", "GiB",
                                                      "TB", "TiB", "PB",  "PiB", "EB",  "EiB"};
constexpr std::array<std::string_view, 20> vm_size_units{
    "",    "b", "k",  "kb",  "kib", "m",  "mb",  "mib", "g",  "gb",
    "gib", "t", "tb", "tib", "p",   "pb", "pib", "e",   "eb", "eib"};

/// Consumes a number with one of the units.
template <class Units>
bool skip_size(std::string_view& rest, const Units& units) {
    constexpr const char* digits = "0123456789.";
    const std::size_t number = std::min(rest.find_first_not_of(digits), rest.size());
    const bool has_digit = rest.substr(0, number).find_first_not_of('.') != rest.npos;
    rest.remove_prefix(number);
    const std::size_t unit = std::min(rest.find_first_of(digits), rest.size());
    const bool known = std::find(units.begin(), units.end(), rest.substr(0, unit)) != units.end();
    rest.remove_prefix(unit);
    return has_digit && known;
}

template <class Units>
bool is_size(std::string_view text, const Units& units) {
    do {
        if (!skip_size(text, units)) return false;
    } while (!text.empty());
    return true;
}

/// Accepts sizes like Prometheus, by ParseBase2Bytes() of alecthomas/units: 10MB, 64KiB,
/// 1GB512MB, -1MB, but 0 as the only one without unit.
void check_size(const YamlValue& value) {
    const std::string text = value.string();
    std::string_view rest = text;
    if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
    if (rest != "0" && !is_size(rest, size_units)) value.fail("must be a size, such as 10MB");
}

/// Accepts sizes like vmagent: 10MB, 64KiB, 1.5gb, 100, 1e6.
void check_vm_size(const YamlValue& value) {
    const std::string text = lower_case(value.string());
    if (parse_decimal(text) || is_size(text, vm_size_units)) return;
    value.fail("must be a size, such as 10MB");
}

/// For vmagent, negative values mean no limit. Prometheus rejects them; k8s_sd leaves that to the
/// host.
bool is_negative(const YamlValue& value) {
    const std::string text = value.string();
    return value.is_plain() && text.size() > 1 && text[0] == '-' &&
           text.find_first_not_of("0123456789", 1) == std::string::npos;
}

void check_duration(const YamlValue& value, LabelDialect dialect) {
    try {
        (void)parse_duration(value.string(), dialect);
    } catch (const ConfigError& e) {
        value.fail(e.problem());
    }
}

void check_shape(const YamlValue& value, KeyShape shape, LabelDialect dialect) {
    if (value.is_null()) return;
    switch (shape) {
        case KeyShape::any: return;
        case KeyShape::boolean: return (void)value.boolean();
        case KeyShape::whole:
            if (!is_negative(value)) (void)value.unsigned_integer();
            return;
        case KeyShape::number: return check_number(value);
        case KeyShape::text: return (void)value.string();
        case KeyShape::size: return check_size(value);
        case KeyShape::vm_size: return check_vm_size(value);
        case KeyShape::duration: return check_duration(value, dialect);
        case KeyShape::list:
            if (!value.is_sequence()) value.fail("must be a list");
            return;
        case KeyShape::mapping:
        case KeyShape::texts:
            if (!value.is_mapping()) value.fail("must be a mapping of keys to values");
            return;
    }
}

std::string text_of(ConfigNoteKind kind) {
    switch (kind) {
        case ConfigNoteKind::targets:
            return "finds targets in a way unknown to k8s_sd: left to the program";
        case ConfigNoteKind::scraping: return "is about how to scrape: left to the program";
        case ConfigNoteKind::samples: return "is not about targets: left to the program";
        case ConfigNoteKind::unknown: break;
    }
    return "is an unknown key: ignored";
}

/// Values equivalent to an unset one in both programs.
bool says_nothing(const std::string& json, KeyShape shape) {
    // A size of zero with any unit, such as "0MB".
    const bool zero = shape == KeyShape::size && json.find_first_of("123456789") == json.npos;
    return zero || json == "null" || json == "0" || json == "\"\"" || json == "\"0\"" ||
           json == "[]";
}

}  // namespace

void KeyHandover::hand_over(const YamlValue& mapping, const KnownKeys& known,
                            ConfigValues& settings, Mistakes& mistakes) {
    for (const auto& [key, value] : mapping.entries()) {
        if (has_key(known.used, key)) continue;
        mistakes.attempt(
            [&, &name = key, &at = value] { hand_over_one(name, at, known, settings); });
    }
}

void KeyHandover::hand_over_one(std::string_view key, const YamlValue& value,
                                const KnownKeys& known, ConfigValues& settings) {
    if (has_key(known.client, key)) return note(value, ConfigNoteKind::scraping);
    const HandedKey* handed = find_key(known.handed, key);
    const bool discovery = !handed && known.has_discovery && is_discovery_key(key);
    HandedKey described = handed ? *handed : HandedKey{key, ConfigNoteKind::unknown};
    if (discovery) described = {key, ConfigNoteKind::targets, KeyShape::list};
    if (!handed) check_unknown(key, value, known, discovery);
    check_shape(value, described.shape, options_.dialect);
    note(value, described.about);
    if (value.is_null()) return;
    settings.insert_or_assign(std::string(key),
                              ConfigValue{json_of(value, described.shape), value.where()});
}

void KeyHandover::check_unknown(std::string_view key, const YamlValue& value,
                                const KnownKeys& known, bool is_discovery) {
    // A key similar to a known one is a typo; any other may belong to a newer program.
    const bool refused = options_.strict && !is_discovery;
    if (!is_misspelt(key, known, is_discovery) && !refused) return;
    if (++refused_ > max_looked_up) value.fail("unknown key");
    value.fail_unknown_key(key, names_of(known), known.used);
}

bool KeyHandover::is_misspelt(std::string_view key, const KnownKeys& known, bool is_discovery) {
    auto& looked_up = looked_up_[is_discovery ? 1 : 0];
    const std::pair<const KnownKeys*, std::string> entry(&known, key);
    const auto found = looked_up.find(entry);
    if (found != looked_up.end()) return found->second;
    if (looked_up.size() == max_looked_up) return false;
    const bool misspelt = !did_you_mean(key, is_discovery ? known.used : names_of(known)).empty();
    looked_up.emplace(entry, misspelt);
    return misspelt;
}

void KeyHandover::note(const YamlValue& value, ConfigNoteKind kind) {
    constexpr std::size_t max_notes = 10'000;
    const std::string text = text_of(kind);
    if (options_.strict) value.fail(text + ", which strict mode refuses");
    if (notes_.size() < max_notes) notes_.push_back({value.where(), text, kind});
}

std::string KeyHandover::json_of(const YamlValue& value, KeyShape shape) {
    if (shape == KeyShape::whole && !is_negative(value)) {
        return std::to_string(value.unsigned_integer());  // JSON has no 0x10
    }
    // Texts must keep their spelling: 1e9, yes, 010.
    const bool texts = shape == KeyShape::text || shape == KeyShape::texts ||
                       shape == KeyShape::size || shape == KeyShape::vm_size ||
                       shape == KeyShape::duration;
    // The size of the result is bounded by the document's; see YamlDocument::spend().
    constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
    return to_json(value, {.max_values = any, .max_bytes = any, .scalars_are_texts = texts});
}

std::size_t inherit_settings(const ConfigValues& global, ConfigValues& job) {
    std::size_t bytes = 0;
    for (const HandedKey& key : handed_job_keys) {
        const auto found = key.inherited ? global.find(key.name) : global.end();
        if (found == global.end()) continue;
        const auto own = job.find(key.name);
        if (own != job.end() && !says_nothing(own->second.json, key.shape)) continue;
        job.insert_or_assign(found->first, found->second);
        bytes += found->second.json.size();
    }
    return bytes;
}

}  // namespace k8s_sd::inline v0::detail
