#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/text.hpp"

#include <yaml-cpp/yaml.h>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A value in a YAML (or JSON) document that knows where it stands. Null stands for "not there".
/// Every member that throws throws ConfigError where "file:line: path". No message repeats a
/// scalar, which may be a secret.
class K8S_SD_EXPORT YamlValue {
 public:
    /// Parses the only document of `text`; an empty document is null.
    /// \throws ConfigError syntax, not UTF-8, control characters, nested too deep, several
    ///         documents
    static YamlValue parse(std::string_view text, const std::string& file);

    bool is_null() const { return node_.IsNull(); }
    bool is_sequence() const { return node_.IsSequence(); }
    bool is_scalar() const { return node_.IsScalar(); }
    /// A scalar without quotes: what it looks like decides about its type.
    bool is_plain() const { return node_.IsScalar() && node_.Tag() != "!"; }
    /// Null, "", [] or {}.
    bool is_empty() const;
    const std::string& path() const { return path_; }
    /// The same value with paths that start here.
    YamlValue as_root() const { return with_path(""); }
    /// The same value under another path.
    YamlValue with_path(std::string path) const {
        return YamlValue(node_, file_, line_, std::move(path));
    }
    /// "file:line: path"; the line is that of the key.
    std::string where() const;
    [[noreturn]] void fail(const std::string& problem) const;

    /// The text of any scalar, which is UTF-8; "" for null.
    std::string string() const;
    /// true or false in the spellings of YAML 1.1; false for null.
    bool boolean() const;
    /// The same; none for everything else.
    std::optional<bool> as_boolean() const;
    /// A whole number in the spellings of YAML 1.1 and Go; 0 for null.
    std::uint64_t unsigned_integer() const;
    /// Of a sequence; empty for null.
    std::vector<YamlValue> items() const;

    using Entry = std::pair<std::string, YamlValue>;
    /// Of a mapping in its order, then those that it merges (`<<`) and does not have itself; fails
    /// for keys that are not text or come twice.
    std::vector<Entry> entries() const;
    /// Whether a mapping has the key, be its value null.
    bool has(std::string_view key) const;
    /// The value of a key of a mapping; null where this is null or lacks the key.
    YamlValue operator[](std::string_view key) const;
    /// Fails for a key that is not allowed, naming those that are, and the likeliest.
    /// \param shown  those that the message lists
    void allow_only(std::span<const std::string_view> keys,
                    std::span<const std::string_view> shown) const;
    void allow_only(std::initializer_list<std::string_view> keys) const {
        const std::span all(keys.begin(), keys.size());
        allow_only(all, all);
    }

 private:
    YamlValue(const YAML::Node& node, std::string file, int line, std::string path)
        : node_(node), file_(std::move(file)), line_(line), path_(std::move(path)) {}
    YamlValue child(const YAML::Node& node, int line, const std::string& key) const;
    struct Entries;
    void add_entries(Entries&) const;
    /// Adds what the mappings that this value of a `<<` names have and `mapping` has not.
    void merge_into(const YamlValue& mapping, Entries&) const;

    YAML::Node node_;
    std::string file_;
    int line_;  ///< from 1
    std::string path_;
};

}  // namespace k8s_sd::inline v0::detail
