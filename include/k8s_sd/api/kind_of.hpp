#pragma once

#include "k8s_sd/kind.hpp"

namespace k8s_sd::inline v0::api {

/// The kind described by a struct: `kind_of<api::Pod>` is Kind::pod. Each struct specializes it in
/// its header.
template <class T>
inline constexpr Kind kind_of = T::no_such_kind;

}  // namespace k8s_sd::inline v0::api
