#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/objects/object.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

namespace detail {

/// Consecutive strings in one allocation, each preceded by its length. Overwritten with zeros at
/// destruction.
class PackedTexts {
 public:
    using Length = std::uint32_t;

    /// Size of a packed string in bytes.
    static constexpr std::size_t packed_size(std::size_t text) noexcept {
        return sizeof(Length) + text;
    }
    /// \param capacity  size of everything to append: growing would move strings already read
    explicit PackedTexts(std::size_t capacity) { bytes_.reserve(capacity); }

    void append(std::string_view text) {
        const auto length = static_cast<Length>(text.size());
        const std::size_t start = bytes_.size();
        bytes_.resize(start + packed_size(text.size()));
        std::memcpy(bytes_.data() + start, &length, sizeof length);
        text.copy(bytes_.data() + start + sizeof length, text.size());
    }

    std::size_t end() const noexcept { return bytes_.size(); }
    /// Reads the string at a position and advances the position to the next one.
    std::string_view read(std::size_t& position) const noexcept {
        Length length = 0;
        std::memcpy(&length, bytes_.data() + position, sizeof length);
        const char* text = bytes_.data() + position + sizeof length;
        position += packed_size(length);
        return {text, length};
    }
    bool operator==(const PackedTexts& other) const noexcept { return bytes_ == other.bytes_; }

 private:
    CleansedBytes bytes_;
};

}  // namespace detail

/// A cached Secret or ConfigMap with its decoded data, in one allocation that is overwritten at
/// destruction. Contributes nothing to labels. Nothing here prints data.
class K8S_SD_EXPORT DataObject final : public Object {
 public:
    /// \param texts  namespace, name, type, then keys and values alternately
    DataObject(Kind kind, std::string_view uid, bool immutable, detail::PackedTexts texts)
        : Object(kind, uid), immutable_(immutable), texts_(std::move(texts)) {
        std::size_t position = 0;
        const std::string_view ns = texts_.read(position);
        const std::string_view name = texts_.read(position);
        set_key(ns, name);
        type_ = position;
    }

    /// Type of a Secret, e.g. "kubernetes.io/tls"; empty for a ConfigMap.
    std::string_view type() const noexcept {
        std::size_t position = type_;
        return texts_.read(position);
    }
    /// Whether the server rejects any change of the data; the object can be deleted.
    bool immutable() const noexcept { return immutable_; }

    /// The decoded bytes of a key in `data` (base64-decoded for a Secret) or `binaryData`; nullopt
    /// without such a key. Valid as long as the object.
    std::optional<std::string_view> get(std::string_view key) const noexcept {
        for (const auto& [name, value] : *this) {
            if (name == key) return value;
        }
        return std::nullopt;
    }

    /// Iterates over the pairs of key and value, in the server's order.
    class iterator {
     public:
        using value_type = std::pair<std::string_view, std::string_view>;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        value_type operator*() const noexcept {
            std::size_t position = position_;
            const std::string_view key = texts_->read(position);
            return {key, texts_->read(position)};
        }
        iterator& operator++() noexcept {
            texts_->read(position_);
            texts_->read(position_);
            return *this;
        }
        iterator operator++(int) noexcept {
            const iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const iterator&) const = default;

     private:
        friend DataObject;
        iterator(const detail::PackedTexts& texts, std::size_t position) noexcept
            : texts_(&texts), position_(position) {}

        const detail::PackedTexts* texts_ = nullptr;
        std::size_t position_ = 0;
    };
    /// The first pair of key and value.
    iterator begin() const noexcept {
        std::size_t position = type_;
        texts_.read(position);
        return {texts_, position};
    }
    /// The end of the pairs.
    iterator end() const noexcept { return {texts_, texts_.end()}; }
    /// Number of keys.
    std::size_t size() const noexcept {
        return static_cast<std::size_t>(std::distance(begin(), end()));
    }

    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const DataObject&>(other);
        return immutable_ == o.immutable_ && texts_ == o.texts_;
    }

 private:
    bool immutable_;
    detail::PackedTexts texts_;
    std::size_t type_ = 0;  // position in the texts
};

/// Shared ownership of a Secret or a ConfigMap.
using DataObjectPtr = boost::intrusive_ptr<const DataObject>;

/// The object as a DataObject if it is a Secret or a ConfigMap; null otherwise.
inline DataObjectPtr as_data_object(const ObjectPtr& object) noexcept {
    const bool has_data = object && !object->has_api_object() &&
                          (object->kind() == Kind::secret || object->kind() == Kind::configmap);
    return has_data ? static_cast<const DataObject*>(object.get()) : nullptr;
}

}  // namespace k8s_sd::inline v0
