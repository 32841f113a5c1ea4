#include "k8s_sd/detail/base/hash.hpp"

#include <random>

namespace k8s_sd::inline v0::detail {

namespace {

HashKey draw_hash_key() {
    std::random_device device;
    const auto draw = [&] { return std::uint64_t{device()} << 32U | device(); };
    HashKey key;
    key.a = draw();
    key.b = draw();
    return key;
}

}  // namespace

const HashKey& hash_key() noexcept {
    static const HashKey key = draw_hash_key();
    return key;
}

}  // namespace k8s_sd::inline v0::detail
