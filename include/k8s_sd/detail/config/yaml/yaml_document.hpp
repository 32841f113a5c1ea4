#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace k8s_sd::inline v0::detail {

struct YamlNode;
using YamlParts = std::span<const YamlNode* const>;

/// A value in the document. An anchored node is shared by its aliases, so cycles are possible.
struct YamlNode {
    enum class Kind : std::uint8_t { null, scalar, sequence, mapping };

    YamlNode(Kind k, int l) : kind(k), line(l) {
        if (kind == Kind::sequence || kind == Kind::mapping) parts = {};
    }

    Kind kind;
    bool plain = false;  ///< a scalar without quotes; its text decides its type
    /// A mapping whose keys are valid, with the entries of its merge keys in place of these keys:
    /// done on first use. See YamlValue.
    mutable bool complete = false;
    int line;  ///< from 1
    union {
        std::string_view text{};  ///< of a scalar
        /// A sequence: its items; a mapping: alternating keys and values.
        mutable YamlParts parts;
    };
};

/// A step of the path to a value: a key, or the index of an item.
struct YamlStep {
    static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

    const YamlStep* parent = nullptr;  ///< null: the first step
    std::string_view key{};            ///< empty for an index
    std::size_t index = no_index;
};

/// The cost of a value in YamlDocument::spend(), besides its text.
inline constexpr std::size_t yaml_value_bytes = 16;

/// The values of a document, in memory of its own. For one thread, because reading completes them
/// lazily.
class YamlDocument {
 public:
    /// \param bytes  the size of the text
    explicit YamlDocument(std::size_t bytes, std::string file)
        : file_(std::move(file)), bytes_(bytes), memory_(first_block(bytes)) {}
    YamlDocument(const YamlDocument&) = delete;
    YamlDocument& operator=(const YamlDocument&) = delete;

    const std::string& file() const { return file_; }
    /// Null for an empty document.
    const YamlNode* root() const { return root_; }

    void set_root(const YamlNode* root) { root_ = root; }
    /// \throws ConfigError for too many values
    YamlNode& add(YamlNode::Kind kind, int line);
    /// Copies the text.
    YamlNode& add_scalar(std::string_view text, bool plain, int line);

    /// Counts bytes read. Naming an anchor takes a few bytes but can stand for very many values, so
    /// the size of the document bounds the amount read.
    /// \returns false beyond that bound
    bool spend(std::size_t bytes) const;
    /// Copies a list into the memory of the document.
    template <class Item>
    std::span<const Item> keep(std::span<const Item> list) const {
        static_assert(std::is_trivially_destructible_v<Item>);
        void* const place =
            memory_.allocate(std::max(list.size_bytes(), sizeof(Item)), alignof(Item));
        Item* const copy = static_cast<Item*>(place);
        std::uninitialized_copy(list.begin(), list.end(), copy);
        return {copy, list.size()};
    }
    std::string_view keep(std::string_view text) const {
        const std::span<const char> copy = keep(std::span<const char>(text));
        return {copy.data(), copy.size()};
    }
    /// Stores a step shared by the paths of several values.
    const YamlStep* keep(const YamlStep& step) const { return keep(std::span(&step, 1)).data(); }

 private:
    /// Holds the whole of a usual document: malloc reuses one block of memory better than several.
    static std::size_t first_block(std::size_t bytes) {
        constexpr std::size_t max_block = std::size_t{32} << 20;
        return std::min(4 * bytes + 1, max_block);
    }

    std::string file_;
    std::size_t bytes_;
    std::size_t values_ = 0;
    const YamlNode* root_ = nullptr;
    mutable std::size_t spent_ = 0;
    mutable std::pmr::monotonic_buffer_resource memory_;
};

/// Parses the only document of `text`.
/// \throws ConfigError where "file:line": syntax, not UTF-8, control characters, nested too deep,
///         several documents
K8S_SD_EXPORT std::shared_ptr<const YamlDocument> parse_yaml(std::string_view text,
                                                             const std::string& file);

}  // namespace k8s_sd::inline v0::detail
