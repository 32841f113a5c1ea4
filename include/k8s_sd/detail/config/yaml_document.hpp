#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

struct YamlNode;

/// A key of a mapping with its value, which stands for `null` where it is null.
struct YamlEntry {
    std::string_view key;
    int line;  ///< of the key
    const YamlNode* value;
};

/// A value as it is written. What anchors name is there once, so there can be cycles.
struct YamlNode {
    enum class Kind : std::uint8_t { null, scalar, sequence, mapping };

    Kind kind = Kind::null;
    bool plain = false;       ///< a scalar without quotes
    int line = 1;             ///< from 1
    std::string_view text{};  ///< of a scalar
    /// Of a sequence: its items; of a mapping: keys and values by turns, merge keys like others.
    std::vector<const YamlNode*> parts{};
    /// Of a mapping with all that it merges; made when somebody first asks. See YamlValue.
    mutable std::unique_ptr<const std::vector<YamlEntry>> entries{};
};

/// A part of the way to a value that is being read: a key, or the index of an item.
struct YamlStep {
    static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

    const YamlStep* parent = nullptr;  ///< null: the way begins here
    std::string key{};                 ///< unless it is an index
    std::size_t index = no_index;
};

/// What a value counts for in YamlDocument::spend(), besides its text.
inline constexpr std::size_t yaml_value_bytes = 16;

/// The values of a document. For one thread, as they are completed while they are read.
class YamlDocument {
 public:
    explicit YamlDocument(std::string_view text, std::string file)
        : file_(std::move(file)), text_(text) {}
    YamlDocument(const YamlDocument&) = delete;
    YamlDocument& operator=(const YamlDocument&) = delete;

    const std::string& file() const { return file_; }
    /// Scalars may be views of it.
    std::string_view text() const { return text_; }
    /// Null for an empty document.
    const YamlNode* root() const { return root_; }

    void set_root(const YamlNode* root) { root_ = root; }
    /// \throws ConfigError for too many values
    YamlNode& add(YamlNode::Kind kind, int line);
    YamlNode& add_scalar(std::string_view text, bool plain, int line);
    /// Keeps a text that is not part of the document's.
    std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }
    /// Forgets everything that was added.
    void clear();

    /// Counts what is read, in bytes. A few bytes can name an anchor again, which may stand for
    /// very many values; so what can be read is bounded by what is written.
    /// \returns false beyond that bound
    bool spend(std::size_t bytes) const;
    /// Keeps a step that the ways of other values begin with.
    const YamlStep* keep_step(YamlStep step) const { return &steps_.emplace_back(std::move(step)); }

 private:
    std::string file_;
    std::string text_;
    std::deque<YamlNode> nodes_;
    std::deque<std::string> kept_;
    const YamlNode* root_ = nullptr;
    mutable std::size_t spent_ = 0;
    mutable std::deque<YamlStep> steps_;
};

/// Parses the only document of `text`.
/// \throws ConfigError where "file:line": syntax, not UTF-8, control characters, nested too deep,
///         several documents
K8S_SD_EXPORT std::shared_ptr<const YamlDocument> parse_yaml(std::string_view text,
                                                             const std::string& file);
/// The same without the short cut for simple documents; for tests and benchmarks.
K8S_SD_EXPORT std::shared_ptr<const YamlDocument> parse_any_yaml(std::string_view text,
                                                                 const std::string& file);

/// Has yaml-cpp make all of its static objects, which exit() destroys.
void make_yaml_statics();

}  // namespace k8s_sd::inline v0::detail
