#pragma once

#include "k8s_sd/detail/text/base64.hpp"
#include "support/objects.hpp"

#include <boost/json/object.hpp>
#include <string>

/// Secrets and ConfigMaps in the form of a server's input.
namespace k8s_sd::test {

inline boost::json::object secret(const std::string& name, const Strings& data,
                                  const std::string& ns = "shop", const std::string& uid = {}) {
    Strings encoded;
    for (const auto& [key, value] : data) encoded[key] = detail::encode_base64(value);
    return {{"kind", "Secret"},
            {"apiVersion", "v1"},
            {"metadata", metadata(ns, name, {}, uid)},
            {"type", "Opaque"},
            {"data", to_json(encoded)}};
}

inline boost::json::object config_map(const std::string& name, const Strings& data,
                                      const std::string& ns = "shop") {
    return {{"kind", "ConfigMap"},
            {"apiVersion", "v1"},
            {"metadata", metadata(ns, name)},
            {"data", to_json(data)}};
}

inline boost::json::object immutable(boost::json::object object) {
    object["immutable"] = true;
    return object;
}

}  // namespace k8s_sd::test
