#pragma once

#include "k8s_sd/detail/codec/decoded_object.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/selector.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// Which objects of a kind a view wants, by what they say: a label and a field selector, and
/// whether they can be evaluated here. The results are those of the API server. Immutable.
class Selection {
 public:
    /// Of a selector that cannot be parsed, the server says what is wrong with it.
    Selection(Kind kind, const std::string& label, const std::string& field);

    /// Whether all fields in it are among what is decoded of the kind. Of other fields only the
    /// server knows the values, and whether there are such fields at all.
    bool known_here() const noexcept { return known_here_; }
    /// Whether it selects one object by name, or the pods of one node: the server has little to
    /// send then, whatever the size of the cluster.
    bool narrow() const noexcept { return narrow_; }
    /// Only where it is known_here().
    bool matches(const DecodedObject& object) const;

 private:
    LabelSelector labels_;
    FieldSelector fields_;
    bool known_here_ = true;
    bool narrow_ = false;
};

}  // namespace k8s_sd::inline v0::detail
