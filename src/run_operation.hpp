#pragma once

#include "operation.hpp"

namespace k8s_sd::detail {

/// An async_run().
using RunOperation = Operation<>;

}  // namespace k8s_sd::detail
