#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/labels.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// A label set under modification: during relabelling and on the way to a scrape target. Flat and
/// reusable: clear() keeps the memory needed by most targets. Setting n labels takes time linear in
/// n. An absent label and an empty value are the same (Prometheus' rule). Not thread-safe.
///
/// The order is that of insertion; setting a label again keeps its position, even after an empty
/// value: a label with an empty value stays as a blank until erase_empty(). vmagent's sharding
/// depends on this order.
class K8S_SD_EXPORT MutableLabels {
 public:
    MutableLabels();
    ~MutableLabels();
    MutableLabels(const MutableLabels&) = delete;  // a copy's views would refer to the original
    MutableLabels& operator=(const MutableLabels&) = delete;
    /// Leaves the other one empty and reusable.
    MutableLabels(MutableLabels&&) noexcept;
    /// Leaves the other one empty and reusable.
    MutableLabels& operator=(MutableLabels&&) noexcept;

    /// A name and its value.
    struct Label {
        std::string_view name;   ///< unique in a label set
        std::string_view value;  ///< empty: as if absent
        friend bool operator==(const Label&, const Label&) = default;
    };

    /// The label of this name; null if there is none.
    static const Label* find(std::span<const Label> labels, std::string_view name) noexcept {
        const auto it = std::find_if(labels.begin(), labels.end(),
                                     [&](const Label& label) { return label.name == name; });
        return it == labels.end() ? nullptr : &*it;
    }

    /// Prepares for many calls of get(), set() and append_if_absent(): they find labels without
    /// searching all of them, until a label is erased, or all are sorted. Large sets need no
    /// preparation.
    void index_names() noexcept;
    /// Removes all labels and strings; keeps the memory, except the excess of a huge target.
    void clear() noexcept;
    /// The value of a label; empty if there is none.
    std::string_view get(std::string_view name) const noexcept {
        const std::size_t i = index_of(name);
        return i < labels_.size() ? labels_[i].value : std::string_view();
    }
    /// Keeps the views, which must stay valid until clear(); see copy(). An empty value leaves a
    /// blank.
    void set(std::string_view name, std::string_view value);
    /// Appends a label; requires that the name is absent.
    void append(std::string_view name, std::string_view value);
    /// Does nothing if there is a label or blank of this name. Keeps the views.
    void append_if_absent(std::string_view name, std::string_view value);
    /// Erases the blanks.
    void erase_empty();
    /// An empty string to build a value in; its address is stable, and valid until clear().
    std::string& new_text();
    /// Copies the text; the result is valid until clear().
    std::string_view copy(std::string_view text) { return new_text().assign(text); }
    /// Erases a label and frees its position; does nothing if there is none.
    void erase(std::string_view name);
    /// Erases the labels whose name satisfies the predicate.
    template <class Predicate>
    void erase_if(Predicate&& predicate) {
        forget_places();
        std::erase_if(labels_, [&](const Label& label) { return predicate(label.name); });
    }
    /// Sorts by name.
    void sort();

    /// The labels including blanks, like size() and empty().
    std::span<const Label> labels() const noexcept { return labels_; }
    /// Number of labels and blanks.
    std::size_t size() const noexcept { return labels_.size(); }
    /// Whether there are neither labels nor blanks.
    bool empty() const noexcept { return labels_.empty(); }
    /// The labels as a map, without blanks.
    LabelMap to_map() const;

 private:
    class Places;
    static constexpr std::size_t max_chained = 255;

    /// The index of a label; labels_.size() if there is none.
    std::size_t index_of(std::string_view name) const noexcept;
    /// The same; builds the index of all labels first if worthwhile.
    std::size_t search(std::string_view name);
    void chain(std::size_t i) noexcept;
    void forget_places() noexcept;

    std::vector<Label> labels_;
    std::deque<std::string> texts_;  // a deque, for stable addresses of its strings
    std::size_t texts_in_use_ = 0;
    /// Whether labels whose names have equal hashes form a chain, see index_names().
    bool is_chained_ = false;
    // The index of a label, plus one; 0: there is none.
    std::array<std::uint8_t, 256> heads_{};         ///< by hash: the first label of the chain
    std::array<std::uint8_t, max_chained> next_{};  ///< by label: the next one in its chain
    /// Index of the labels by name; only in large sets, which take long to search.
    std::unique_ptr<Places> places_;
    std::size_t searches_ = 0;  ///< number of searches without places_, in a large set
    /// A Bloom filter of the names: most searched names are absent. Keeps those of erased labels.
    std::array<std::uint64_t, 4> seen_{};
};

}  // namespace k8s_sd::inline v0
