#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/config/yaml/yaml_document.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A value in a YAML (or JSON) document, with its position. Null stands for an absent value. All
/// errors are ConfigErrors where "file:line: path". No message repeats a scalar, because it may be
/// a secret. All values of one document must be used on one thread.
class K8S_SD_EXPORT YamlValue {
 public:
    /// Parses the only document of `text`; an empty document is null.
    /// \throws ConfigError syntax, not UTF-8, control characters, nested too deep, several
    ///         documents
    static YamlValue parse(std::string_view text, const std::string& file);
    /// The whole of a document.
    static YamlValue of(std::shared_ptr<const YamlDocument> document);

    bool is_null() const { return node_ == nullptr || node_->kind == YamlNode::Kind::null; }
    bool is_sequence() const { return is(YamlNode::Kind::sequence); }
    bool is_mapping() const { return is(YamlNode::Kind::mapping); }
    bool is_scalar() const { return is(YamlNode::Kind::scalar); }
    /// An unquoted scalar; its text decides its type.
    bool is_plain() const { return is_scalar() && node_->plain; }
    /// Null, "", [] or {}.
    bool is_empty() const;
    /// "a.b[1].c"; empty for the whole document.
    std::string path() const;
    /// The same value with paths relative to it.
    YamlValue as_root() const { return with_path(""); }
    /// The same value under another path.
    YamlValue with_path(std::string_view path) const {
        return YamlValue(document_, node_, line_, {nullptr, document_->keep(path)});
    }
    /// "file:line: path", with the line of the key.
    std::string where() const;
    [[noreturn]] void fail(const std::string& problem) const;

    /// The text of any scalar, in UTF-8; "" for null.
    std::string string() const;
    /// true or false in the spellings of YAML 1.1; false for null.
    bool boolean() const;
    /// Like boolean(), but nullopt for any other value.
    std::optional<bool> as_boolean() const;
    /// A whole number in the spellings of YAML 1.1 and Go; 0 for null.
    std::uint64_t unsigned_integer() const;
    /// The same without errors; nullopt for any other value.
    std::optional<std::uint64_t> as_unsigned_integer() const;
    /// The items of a sequence; empty for null.
    std::vector<YamlValue> items() const;

    using KeyValue = std::pair<std::string, YamlValue>;
    /// The entries of a mapping in order, followed by merged ones (`<<`) with other keys; fails for
    /// keys other than text and for duplicate keys.
    std::vector<KeyValue> entries() const;
    /// Whether a mapping has the key, even with a null value.
    bool has(std::string_view key) const;
    /// The value of a key in a mapping; null if the mapping is null or lacks the key.
    YamlValue operator[](std::string_view key) const;
    /// Fails at this value because its key is not one of `keys`.
    /// \param shown  the keys listed in the message
    [[noreturn]] void fail_unknown_key(std::string_view key, std::span<const std::string_view> keys,
                                       std::span<const std::string_view> shown) const;
    /// Fails for a key outside `keys`, and lists the allowed keys and the most similar one.
    /// \param shown  the keys listed in the message
    void allow_only(std::span<const std::string_view> keys,
                    std::span<const std::string_view> shown) const;
    void allow_only(std::initializer_list<std::string_view> keys) const {
        const std::span all(keys.begin(), keys.size());
        allow_only(all, all);
    }

 private:
    YamlValue(std::shared_ptr<const YamlDocument> document, const YamlNode* node, int line,
              YamlStep step)
        : document_(std::move(document)), node_(node), line_(line), step_(std::move(step)) {}
    /// The common start of the paths of this value's children.
    const YamlStep* way() const;
    bool is(YamlNode::Kind kind) const { return node_ != nullptr && node_->kind == kind; }
    /// \param key  in the memory of the document, or a literal
    YamlValue child(const YamlNode* node, int line, std::string_view key) const;
    void spend(std::size_t bytes) const;
    /// The alternating keys and values of a mapping, merged ones included; none for null.
    YamlParts merged_entries() const;
    /// The key and the value; null if the mapping lacks the key.
    const YamlNode* const* find(std::string_view key) const;
    /// The value of an entry.
    YamlValue child(const YamlNode* const* entry) const {
        return child(entry[1], entry[0]->line, entry[0]->text);
    }
    /// Fails for a key of this mapping other than a text, and for a duplicate.
    /// \returns whether a key is a merge key
    bool check_keys() const;
    struct Merging;
    void add_entries(Merging&) const;
    /// Adds the entries missing in `mapping` from the mappings referenced by this `<<` value.
    void merge_into(const YamlValue& mapping, Merging&) const;

    std::shared_ptr<const YamlDocument> document_;
    const YamlNode* node_;
    int line_;       ///< from 1
    YamlStep step_;  ///< the last one to this value
    mutable const YamlStep* way_ = nullptr;
};

/// Options and limits for writing a value as JSON. Limits are needed: an anchor may contain itself.
struct JsonOptions {
    std::size_t max_values = 10'000;
    std::size_t max_bytes = std::size_t{1} << 20;
    /// Every scalar is a text, regardless of its YAML type.
    bool scalars_are_texts = false;
    /// Whole numbers of YAML 1.1 that JSON does not have, such as 0x10 and 1_000, are numbers. By
    /// default they are texts: a host may want a text, such as a password.
    bool whole_numbers_by_value = false;
};

/// The value as JSON text. Plain scalars have their YAML 1.1 types; numbers valid in JSON stay as
/// written, others become texts; see JsonOptions.
/// \throws ConfigError also if it is nested deeper than 32 levels or exceeds the options
K8S_SD_EXPORT std::string to_json(const YamlValue&, const JsonOptions& = {});

}  // namespace k8s_sd::inline v0::detail
