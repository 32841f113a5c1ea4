#include "k8s_sd/detail/relabel/xxh64.hpp"

#define XXH_INLINE_ALL  // header-only
#include <xxhash.h>

namespace k8s_sd::inline v0::detail {

std::uint64_t xxh64(std::string_view text) noexcept { return XXH64(text.data(), text.size(), 0); }

}  // namespace k8s_sd::inline v0::detail
