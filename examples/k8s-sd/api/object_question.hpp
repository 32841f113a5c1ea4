#pragma once

#include "table/target_table.hpp"

#include <string>
#include <string_view>

namespace bridge {

/// Asks which targets are of an object: "pod/shop/web-1", "service/shop/web", "node/n1", any source
/// of groups; or, where it is no path, the name of a pod, service or node, or an IP address.
class ObjectQuestion {
 public:
    /// \throws BadRequest where it asks for nothing
    explicit ObjectQuestion(std::string text);

    /// The object that is meant, where the target is of it; else empty.
    std::string object_of(const TargetRow&) const;

 private:
    std::string named(const TargetRow&, std::string_view label, std::string_view value) const;

    std::string text_;  ///< of a path: behind its kind
    std::string kind_;  ///< empty: any
};

}  // namespace bridge
