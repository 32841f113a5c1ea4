#pragma once

namespace k8s_sd::inline v0::detail {

/// Whether a request is a watch, or ends soon. A connection keeps some streams for the latter.
enum class StreamUse : bool { watch, brief };

}  // namespace k8s_sd::inline v0::detail
