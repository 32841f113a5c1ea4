#pragma once

#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/sharing/kind_view.hpp"
#include "k8s_sd/detail/sharing/matching_views.hpp"
#include "k8s_sd/detail/watch/selection.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <bitset>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The selections of one watch. With a thousand jobs, evaluating each selection on each object
/// would cost more than decoding it. But nearly every selector has a condition such as `app=web`,
/// `tier in (a,b)` or `metadata.namespace=shop`, and fails on any object with another value.
///
/// So the index stores a selection under the values of one of its conditions, the one with the
/// fewest selections so far, or under the label that it requires. An object leads to the selections
/// of its own values and labels, and only these are evaluated, completely: the index may find too
/// many, and never misses one. A selection with no such condition is evaluated on each object.
/// Strand-confined.
class SelectionIndex {
 public:
    bool contains(const SharedSelectionPtr& selection) const { return all_.contains(selection); }
    /// Has no effect if the index contains it.
    /// \param applied  the server has applied the selectors to the objects of the watch
    void add(const SharedSelectionPtr& selection, bool applied);
    void clear();
    /// Adds the numbers of all selections with this object.
    void evaluate(const DecodedObject& object, ViewSet& views) const;
    /// The selections to evaluate; each may occur more than once.
    template <class Visit>
    void for_each_candidate(const DecodedObject& object, Visit visit) const;

 private:
    using Selections = std::vector<const SharedSelection*>;
    /// The selections that require a label or field, under the values that they allow.
    struct Required {
        boost::unordered_flat_map<std::string_view, Selections, SeededHash> by_value;
        Selections any_value;
    };
    using ByKey = boost::unordered_flat_map<std::string_view, Required, SeededHash>;
    struct Condition;

    std::vector<Condition> conditions_of(const SharedSelection&);
    bool add_for_value(const SharedSelection&);
    bool add_for_presence(const SharedSelection&);
    Required& required_label(std::string_view key);
    static std::size_t length_class(std::string_view key) noexcept { return key.size() % 64; }

    boost::unordered_flat_set<SharedSelectionPtr, std::hash<SharedSelectionPtr>> all_;
    ByKey labels_;  // with views of texts in all_
    ByKey fields_;
    /// The lengths of the keys in labels_: most labels of an object need no look-up.
    std::bitset<64> key_lengths_;
    Selections others_;
    Selections applied_;
};

template <class Visit>
void SelectionIndex::for_each_candidate(const DecodedObject& object, Visit visit) const {
    const auto visit_all = [&](const Selections& selections) {
        for (const SharedSelection* selection : selections) visit(*selection);
    };
    const auto visit_value = [&](const Required& required, std::string_view value) {
        visit_all(required.any_value);
        const auto it = required.by_value.find(value);
        if (it != required.by_value.end()) visit_all(it->second);
    };
    visit_all(others_);
    for (const auto& [path, required] : fields_) visit_value(required, field_value(object, path));
    // JSON may repeat a key. Then the index finds selections of a value that does not count, too,
    // and they do not match.
    for (const auto& [key, value] : object.meta.labels) {
        if (!key_lengths_.test(length_class(key))) continue;
        const auto it = labels_.find(key);
        if (it != labels_.end()) visit_value(it->second, value);
    }
}

}  // namespace k8s_sd::inline v0::detail
