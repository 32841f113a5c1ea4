#pragma once

#include <cstddef>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Reserves capacity for `more` elements: inserting them neither throws nor moves the others,
/// unless some are erased meanwhile. A flat set loses capacity by erasures, and reserve() does not
/// restore it.
template <class FlatSet>
void make_room(FlatSet& set, std::size_t more) {
    using Element = typename FlatSet::value_type;
    const std::size_t needed = set.size() + more;
    if (needed <= set.max_load()) return;
    FlatSet roomy;
    roomy.reserve(needed + needed / 16 + 1);
    // The elements of the old set are not accessed again.
    for (const Element& element : set) roomy.insert(std::move(const_cast<Element&>(element)));
    set.swap(roomy);
}

}  // namespace k8s_sd::inline v0::detail
