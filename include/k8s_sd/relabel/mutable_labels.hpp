#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/labels.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// A label set while it is being changed: by relabelling, and on its way to a scrape target. Flat,
/// made to be used again: clear() keeps the memory that most targets need. Setting n labels takes
/// time in proportion to n. An absent label and an empty value are the same (Prometheus' rule). Not
/// thread-safe.
///
/// The order is that of insertion; a label that is set again keeps its place, also where it was
/// set to an empty value meanwhile: such a label stays, as a blank, until erase_empty(). vmagent's
/// sharding depends on it.
class K8S_SD_EXPORT MutableLabels {
 public:
    MutableLabels();
    ~MutableLabels();
    MutableLabels(const MutableLabels&) = delete;  // the views would remain those of the other
    MutableLabels& operator=(const MutableLabels&) = delete;
    /// The other has no labels afterwards, and can be used again.
    MutableLabels(MutableLabels&&) noexcept;
    /// The other has no labels afterwards, and can be used again.
    MutableLabels& operator=(MutableLabels&&) noexcept;

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

    /// Forgets all labels and texts; keeps the memory, but not what only a huge target needed.
    void clear() noexcept;
    /// Empty if there is none.
    std::string_view get(std::string_view name) const noexcept {
        const std::size_t i = index_of(name);
        return i < labels_.size() ? labels_[i].value : std::string_view();
    }
    /// Keeps the views, which must stay valid until clear(); see copy(). An empty value leaves a
    /// blank.
    void set(std::string_view name, std::string_view value);
    /// For a name that is not there yet.
    void append(std::string_view name, std::string_view value);
    /// Does nothing if there is a label of that name, also if it is a blank. Keeps the views.
    void append_if_absent(std::string_view name, std::string_view value);
    /// Erases the blanks.
    void erase_empty();
    /// An empty text to build a value in; stays where it is, and valid until clear().
    std::string& new_text();
    /// Copies the text; the result is valid until clear().
    std::string_view copy(std::string_view text) { return new_text().assign(text); }
    /// Erases a label with its place; does nothing if there is none.
    void erase(std::string_view name);
    /// Erases the labels whose name satisfies the predicate.
    template <class Predicate>
    void erase_if(Predicate&& predicate) {
        forget_places();
        std::erase_if(labels_, [&](const Label& label) { return predicate(label.name); });
    }
    /// Sorts by name.
    void sort();

    /// With the blanks, as size() and empty().
    std::span<const Label> labels() const noexcept { return labels_; }
    /// Number of labels and blanks.
    std::size_t size() const noexcept { return labels_.size(); }
    /// Whether there is neither a label nor a blank.
    bool empty() const noexcept { return labels_.empty(); }
    /// Without the blanks.
    LabelMap to_map() const;

 private:
    class Places;

    /// The size if there is none.
    std::size_t index_of(std::string_view name) const noexcept;
    /// The same; finds out all places first, where that pays.
    std::size_t search(std::string_view name);
    void forget_places() noexcept;

    std::vector<Label> labels_;
    std::deque<std::string> texts_;  // a deque, so that its strings stay where they are
    std::size_t texts_in_use_ = 0;
    /// Where the label of each name is; only in large sets, which take long to search.
    std::unique_ptr<Places> places_;
    std::size_t searches_ = 0;  ///< without places_, in a large set
};

}  // namespace k8s_sd::inline v0
