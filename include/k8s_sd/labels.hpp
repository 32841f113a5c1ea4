#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/role.hpp"

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

/// A label set that owns its strings, sorted by name. Made only on a host's request.
using LabelMap = std::map<std::string, std::string, std::less<>>;

/// A read-only view of a label set: unique names with their values, in no particular order.
/// Cheap to copy. Valid as long as the TargetGroup it came from. Thread-safe.
/// An empty value means the same as no label (Prometheus' rule); such labels can occur.
class Labels {
 public:
    /// Name and value, valid as long as the Labels.
    using value_type = std::pair<std::string_view, std::string_view>;

    class iterator {
     public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Labels::value_type;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type*;
        using reference = value_type;

        iterator() = default;
        value_type operator*() const noexcept {
            if (!address_.empty()) return {detail::address_name.text, address_};
            const auto& entry = (*block_)->shape().entries()[entry_];
            return on_present_ ? value_type{entry.present, "true"} : value_type{entry.name, value_};
        }
        iterator& operator++() noexcept {
            if (!address_.empty()) {
                address_ = {};
                return *this;
            }
            if (!on_present_ && !(*block_)->shape().entries()[entry_].present.empty()) {
                on_present_ = true;
                return *this;
            }
            on_present_ = false;
            ++entry_;
            settle();
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept {
            return a.block_ == b.block_ && a.entry_ == b.entry_ && a.on_present_ == b.on_present_ &&
                   a.address_.empty() == b.address_.empty();
        }

     private:
        friend class Labels;
        iterator(std::string_view address, const detail::LabelBlockPtr* block,
                 const detail::LabelBlockPtr* last) noexcept
            : address_(address), block_(block), last_(last) {
            open();
            settle();
        }
        // A null block stands for no labels.
        void open() noexcept {
            while (block_ != last_ && !*block_) ++block_;
            if (block_ != last_) position_ = (*block_)->packed().data();
        }
        // Advances to the next entry with a label; position_ is at the start of entry_'s value.
        void settle() noexcept {
            while (block_ != last_) {
                const auto entries = (*block_)->shape().entries();
                for (; entry_ < entries.size(); ++entry_) {
                    value_ = detail::unpack_value(position_);
                    if (!entries[entry_].name.empty()) return;
                }
                entry_ = 0;
                ++block_;
                open();
            }
        }

        std::string_view address_;  // empty: past it, or there is none
        const detail::LabelBlockPtr* block_ = nullptr;
        const detail::LabelBlockPtr* last_ = nullptr;
        const char* position_ = nullptr;
        std::size_t entry_ = 0;
        std::string_view value_;
        bool on_present_ = false;
    };

    /// An empty label set.
    Labels() = default;

    /// An input iterator over the labels.
    iterator begin() const noexcept { return {address_, first_, last_}; }
    /// The end of the labels.
    iterator end() const noexcept { return {{}, last_, last_}; }
    /// Whether there is no label.
    bool empty() const noexcept { return size() == 0; }
    /// Number of labels, including those with an empty value.
    std::size_t size() const noexcept {
        std::size_t n = address_.empty() ? 0 : 1;
        for (const auto* block = first_; block != last_; ++block) {
            if (*block) n += (*block)->shape().label_count();
        }
        return n;
    }
    /// The value of a label; nullopt if there is none of this name.
    std::optional<std::string_view> get(std::string_view name) const noexcept {
        for (const auto [label, value] : *this) {
            if (label == name) return value;
        }
        return std::nullopt;
    }
    /// The labels as a map, including those with an empty value.
    LabelMap to_map() const {
        LabelMap map;
        for (const auto [name, value] : *this) map.emplace(name, value);
        return map;
    }
    /// Equal for equal Labels of one process; each process has its own hashes.
    std::size_t hash() const noexcept {
        std::size_t sum = address_.empty() ? 0 : detail::seeded_hash(address_);
        for (const auto* block = first_; block != last_; ++block) {
            if (*block) sum = sum * 31 + detail::seeded_hash((*block)->packed());
        }
        return sum;
    }
    /// Equal if made of equal parts, as are the label sets of one source. Sets of different origin
    /// can have the same labels and yet compare unequal; compare their maps in this case.
    friend bool operator==(const Labels& a, const Labels& b) noexcept {
        if (a.address_ != b.address_ || a.last_ - a.first_ != b.last_ - b.first_) return false;
        for (const auto *x = a.first_, *y = b.first_; x != a.last_; ++x, ++y) {
            if (!detail::same(*x, *y)) return false;
        }
        return true;
    }

 private:
    friend struct detail::Access;

    /// \param address  the value of `__address__` if it is in no block; empty: none
    Labels(const detail::LabelBlockPtr* first, const detail::LabelBlockPtr* last,
           std::string_view address = {}) noexcept
        : address_(address), first_(first), last_(last) {}
    std::string_view address() const noexcept { return address_; }
    std::span<const detail::LabelBlockPtr> blocks() const noexcept { return {first_, last_}; }

    std::string_view address_;
    const detail::LabelBlockPtr* first_ = nullptr;
    const detail::LabelBlockPtr* last_ = nullptr;
};

/// The source of a label's value.
struct LabelOrigin {
    Kind kind{};  ///< kind of the object; see resource_of() for its name
    /// Path in the object in kubectl's jsonpath notation: `spec.nodeName`. Several paths, separated
    /// by commas, if the value combines them. In a key recovered from the label's name, a `?`
    /// stands for each unknown character: `metadata.labels["app?kubernetes?io?name"]`.
    std::string field{};
};

/// The origin of a label made by discovery; nullopt for any other name. docs/guide/labels.md has
/// the list. Thread-safe.
/// \param role  role of the configuration: `__address__` and the namespace come from the objects of
///              the role
/// \param dialect  dialect of the configuration: with role endpoints in Prometheus' dialect, the
///                 protocol of a container's port comes from the endpoint
/// \param version  of the configuration: the IP of a load balancer comes from the status since 3.15
K8S_SD_EXPORT std::optional<LabelOrigin> label_origin(
    std::string_view name, Role role, LabelDialect dialect = LabelDialect::prometheus,
    PrometheusVersion version = PrometheusVersion::v3_5);

}  // namespace k8s_sd::inline v0
