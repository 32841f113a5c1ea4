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

/// A key of a mapping with its value; a null pointer stands for YAML's null.
struct YamlEntry {
    std::string_view key;
    int line;  ///< of the key
    const YamlNode* value;
};

/// A value in the document. An anchored node is shared by its aliases, so cycles are possible.
struct YamlNode {
    enum class Kind : std::uint8_t { null, scalar, sequence, mapping };

    Kind kind = Kind::null;
    bool plain = false;       ///< a scalar without quotes
    int line = 1;             ///< from 1
    std::string_view text{};  ///< of a scalar
    /// A sequence: its items; a mapping: alternating keys and values, merge keys included.
    std::vector<const YamlNode*> parts{};
    /// The entries of a mapping including merged ones; computed on first use. See YamlValue.
    mutable std::unique_ptr<const std::vector<YamlEntry>> entries{};
};

/// A step of the path to a value: a key, or the index of an item.
struct YamlStep {
    static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

    const YamlStep* parent = nullptr;  ///< null: the first step
    std::string key{};                 ///< empty for an index
    std::size_t index = no_index;
};

/// The cost of a value in YamlDocument::spend(), besides its text.
inline constexpr std::size_t yaml_value_bytes = 16;

/// The values of a document. For one thread, because reading completes them lazily.
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
    /// Stores a text not contained in the document.
    std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }
    /// Removes everything added so far.
    void clear();

    /// Counts bytes read. Naming an anchor takes a few bytes but can stand for very many values, so
    /// the size of the document bounds the amount read.
    /// \returns false beyond that bound
    bool spend(std::size_t bytes) const;
    /// Stores a step shared by the paths of several values.
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
/// The same without the fast path for simple documents; for tests and benchmarks.
K8S_SD_EXPORT std::shared_ptr<const YamlDocument> parse_any_yaml(std::string_view text,
                                                                 const std::string& file);

/// Makes yaml-cpp create all its static objects now; exit() destroys them.
void make_yaml_statics();

}  // namespace k8s_sd::inline v0::detail
