#pragma once

#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/detail/labels/label_template.hpp"
#include "k8s_sd/labels.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"

#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

namespace k8s_sd::inline v0 {

/// A read-only view of the labels of a ScrapeTarget, sorted by name. Names are unique, no value is
/// empty. Cheap to copy. Valid as long as the target. Thread-safe.
///
/// Names, and values set by the job, are stored once for many targets; a label is composed on
/// access.
class ScrapeLabels {
 public:
    /// A name and its value; the views are valid as long as the target.
    using value_type = MutableLabels::Label;

    /// A forward iterator that makes its elements on access.
    class iterator {
     public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = ScrapeLabels::value_type;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type*;
        using reference = value_type;

        iterator() = default;
        value_type operator*() const noexcept {
            if (entry_->shared()) return {entry_->name, entry_->value};
            const char* position = entry_->own() ? position_ : values_;
            for (auto skipped = entry_->repeats; skipped > 1; --skipped) {
                detail::unpack_value(position);
            }
            return {entry_->name, detail::unpack_value(position)};
        }
        iterator& operator++() noexcept {
            if (entry_->own()) detail::unpack_value(position_);
            ++entry_;
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept {
            return a.entry_ == b.entry_;
        }

     private:
        friend class ScrapeLabels;
        iterator(const detail::LabelTemplate::TemplateEntry* entry, const char* values) noexcept
            : entry_(entry), values_(values), position_(values) {}

        const detail::LabelTemplate::TemplateEntry* entry_ = nullptr;
        const char* values_ = nullptr;    // all values of the target's own
        const char* position_ = nullptr;  // the next value of the target's own
    };

    /// An empty label set.
    ScrapeLabels() = default;
    /// The label with the smallest name.
    iterator begin() const noexcept { return {template_ ? entries().data() : nullptr, values_}; }
    /// The end of the labels.
    iterator end() const noexcept {
        return {template_ ? entries().data() + entries().size() : nullptr, nullptr};
    }
    /// Number of labels.
    std::size_t size() const noexcept { return template_ ? entries().size() : 0; }
    /// Whether there is no label.
    bool empty() const noexcept { return size() == 0; }
    /// The value of a label; empty if there is none of this name.
    std::string_view get(std::string_view name) const noexcept {
        for (const auto [label, value] : *this) {
            if (label == name) return value;
        }
        return {};
    }
    /// The labels as strings.
    LabelMap to_map() const {
        LabelMap map;
        for (const auto [name, value] : *this) map.emplace_hint(map.end(), name, value);
        return map;
    }
    /// Whether both have the same names with the same values.
    friend bool operator==(const ScrapeLabels& a, const ScrapeLabels& b) noexcept {
        if (a.size() != b.size()) return false;
        for (iterator x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
            if (*x != *y) return false;
        }
        return true;
    }

 private:
    friend struct detail::Access;

    ScrapeLabels(const detail::LabelTemplate& labels, const char* values) noexcept
        : template_(&labels), values_(values) {}
    std::span<const detail::LabelTemplate::TemplateEntry> entries() const noexcept {
        return template_->entries();
    }

    const detail::LabelTemplate* template_ = nullptr;
    const char* values_ = nullptr;
};

}  // namespace k8s_sd::inline v0
