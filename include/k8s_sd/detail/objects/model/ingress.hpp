#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

namespace k8s_sd::inline v0::detail::model {

struct IngressPath {
    std::string_view path;
};

struct IngressRule {
    std::string_view host;
    bool has_http = false;
    std::vector<IngressPath> paths;
};

struct IngressTls {
    std::vector<std::string_view> hosts;
};

struct Ingress {
    ObjectMeta meta;
    std::optional<std::string_view> class_name;
    std::vector<IngressRule> rules;
    std::vector<IngressTls> tls;
};

}  // namespace k8s_sd::inline v0::detail::model
