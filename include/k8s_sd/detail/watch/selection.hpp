#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/selector.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// A label and a field selector, evaluated on decoded objects if possible. The results equal those
/// of the API server. Immutable.
class Selection {
 public:
    /// Accepts an invalid selector: the API server reports the error.
    Selection(Kind kind, const std::string& label, const std::string& field);

    /// Whether the decoder keeps all fields of the selector. The values of other fields, and their
    /// existence, are known to the server only.
    bool known_here() const noexcept { return known_here_; }
    /// Whether the selector names one object, or one node for pods: the response is small even in a
    /// large cluster.
    bool narrow() const noexcept { return narrow_; }
    /// Requires known_here().
    bool matches(const DecodedObject& object) const;
    const LabelSelector& labels() const noexcept { return labels_; }
    const FieldSelector& fields() const noexcept { return fields_; }

 private:
    LabelSelector labels_;
    FieldSelector fields_;
    bool known_here_ = true;
    bool narrow_ = false;
};

/// The value of a field that FieldSelector names; empty without one, as in the API server.
std::string_view field_value(const DecodedObject& object, std::string_view path);

}  // namespace k8s_sd::inline v0::detail
