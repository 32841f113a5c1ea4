#pragma once

#include "k8s_sd/labels.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// A label set while it is being changed: by relabelling, and on its way to a scrape target. Flat,
/// made to be used again: clear() keeps the memory. An absent label and an empty value are the same
/// (Prometheus' rule). Not thread-safe.
///
/// The order is that of insertion; a label that is set again keeps its place, also where it was
/// set to an empty value meanwhile: such a label stays, as a blank, until erase_empty(). vmagent's
/// sharding depends on it.
class MutableLabels {
 public:
    MutableLabels() = default;
    MutableLabels(const MutableLabels&) = delete;  // the views would remain those of the other
    MutableLabels& operator=(const MutableLabels&) = delete;
    MutableLabels(MutableLabels&&) noexcept = default;
    MutableLabels& operator=(MutableLabels&&) noexcept = default;

    /// A name and its value.
    struct Label {
        std::string_view name;   ///< unique in a label set
        std::string_view value;  ///< empty: as if absent
        friend bool operator==(const Label&, const Label&) = default;
    };

    /// The label of that name; null if there is none.
    static const Label* find(std::span<const Label> labels, std::string_view name) noexcept {
        const auto it = std::find_if(labels.begin(), labels.end(),
                                     [&](const Label& label) { return label.name == name; });
        return it == labels.end() ? nullptr : &*it;
    }

    /// Forgets all labels and texts; keeps the memory.
    void clear() noexcept {
        labels_.clear();
        texts_in_use_ = 0;
    }
    /// Empty if there is none.
    std::string_view get(std::string_view name) const noexcept {
        const std::size_t i = index_of(name);
        return i < labels_.size() ? labels_[i].value : std::string_view();
    }
    /// Keeps the views, which must stay valid until clear(); see copy(). An empty value leaves a
    /// blank.
    void set(std::string_view name, std::string_view value) {
        if (const std::size_t i = index_of(name); i < labels_.size()) {
            labels_[i].value = value;
        } else {
            labels_.push_back({name, value});
        }
    }
    /// For a name that is not there yet.
    void append(std::string_view name, std::string_view value) { labels_.push_back({name, value}); }
    /// Erases the blanks.
    void erase_empty() {
        std::erase_if(labels_, [](const Label& label) { return label.value.empty(); });
    }
    /// An empty text to build a value in; stays where it is, and valid until clear().
    std::string& new_text() {
        if (texts_in_use_ == texts_.size()) texts_.emplace_back();
        std::string& text = texts_[texts_in_use_++];
        text.clear();
        return text;
    }
    /// Copies the text; the result is valid until clear().
    std::string_view copy(std::string_view text) { return new_text().assign(text); }
    /// Erases a label with its place; does nothing if there is none.
    void erase(std::string_view name) {
        const std::size_t i = index_of(name);
        if (i < labels_.size()) labels_.erase(labels_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    /// Erases the labels whose name satisfies the predicate.
    template <class Predicate>
    void erase_if(Predicate&& predicate) {
        std::erase_if(labels_, [&](const Label& label) { return predicate(label.name); });
    }
    /// Sorts by name.
    void sort() {
        std::sort(labels_.begin(), labels_.end(),
                  [](const Label& a, const Label& b) { return a.name < b.name; });
    }

    /// With the blanks, as size() and empty().
    std::span<const Label> labels() const noexcept { return labels_; }
    /// Number of labels and blanks.
    std::size_t size() const noexcept { return labels_.size(); }
    /// Whether there is neither a label nor a blank.
    bool empty() const noexcept { return labels_.empty(); }
    /// Without the blanks.
    LabelMap to_map() const {
        LabelMap map;
        for (const auto& [name, value] : labels_) {
            if (!value.empty()) map.emplace(name, value);
        }
        return map;
    }

 private:
    /// The size if there is none.
    std::size_t index_of(std::string_view name) const noexcept {
        const Label* label = find(labels_, name);
        return label ? static_cast<std::size_t>(label - labels_.data()) : labels_.size();
    }

    std::vector<Label> labels_;
    std::deque<std::string> texts_;  // a deque, so that its strings stay where they are
    std::size_t texts_in_use_ = 0;
};

}  // namespace k8s_sd::inline v0
