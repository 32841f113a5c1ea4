#pragma once

#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/detail/labels/label_names.hpp"
#include "k8s_sd/detail/text/host_port.hpp"

#include <string_view>

namespace k8s_sd::inline v0::detail {

inline LabelBlockPtr address_label(LabelFactory& factory, std::string_view address) {
    return factory.block().add(address_name, address).make();
}

}  // namespace k8s_sd::inline v0::detail
