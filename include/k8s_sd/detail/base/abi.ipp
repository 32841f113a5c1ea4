#include "k8s_sd/detail/base/abi.hpp"

namespace k8s_sd::inline v0::detail {

const char K8S_SD_BOOST_TAG = 0;

}  // namespace k8s_sd::inline v0::detail
