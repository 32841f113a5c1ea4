#pragma once

#include "k8s_sd/detail/client/short_request.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"

namespace k8s_sd::inline v0::detail {

/// The verdict a watch would reach from the response head alone.
Verdict verdict_on_head(const ShortRequest::Answer&, const WatchQuery&, Purpose);

/// The verdict a watch would reach from a list. Of a truncated response the beginning counts.
Verdict verdict_on_list(const ShortRequest::Answer&, const WatchQuery&);

}  // namespace k8s_sd::inline v0::detail
