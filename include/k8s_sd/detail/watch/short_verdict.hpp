#pragma once

#include "k8s_sd/detail/net/short_request.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"

namespace k8s_sd::inline v0::detail {

/// What a watch would make of an answer of which it is enough that it has begun well.
Verdict verdict_on_head(const ShortRequest::Answer&, const WatchQuery&, Purpose);

/// What a watch would make of a list. Its beginning counts if the answer is cut.
Verdict verdict_on_list(const ShortRequest::Answer&, const WatchQuery&);

}  // namespace k8s_sd::inline v0::detail
