#pragma once

#include "support/objects.hpp"

#include <boost/json/object.hpp>
#include <string>

/// Secrets and ConfigMaps of the test kit, with defaults.
namespace k8s_sd::test {

template <class Builder>
boost::json::object with_data(Builder builder, const Strings& data) {
    for (const auto& [key, value] : data) builder.data(key, value);
    return builder;
}

inline boost::json::object secret(const std::string& name, const Strings& data,
                                  const std::string& ns = "shop", const std::string& uid = {}) {
    sim::SecretBuilder builder = sim::secret(ns, name);
    if (!uid.empty()) builder.uid(uid);
    return with_data(builder, data);
}

inline boost::json::object config_map(const std::string& name, const Strings& data,
                                      const std::string& ns = "shop") {
    return with_data(sim::config_map(ns, name), data);
}

inline boost::json::object immutable(boost::json::object object) {
    object["immutable"] = true;
    return object;
}

}  // namespace k8s_sd::test
