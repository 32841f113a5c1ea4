#pragma once

#include "support/objects.hpp"

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

/// Secrets and ConfigMaps, as a server is given them.
namespace k8s_sd::test {

inline std::string to_base64(std::string_view bytes) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned bits = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            bits = (bits << 8U) |
                   (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            text += i + j > bytes.size() ? '=' : alphabet[(bits >> (18 - 6 * j)) & 63U];
        }
    }
    return text;
}

inline boost::json::object secret(const std::string& name, const Strings& data,
                                  const std::string& ns = "shop", const std::string& uid = {}) {
    Strings encoded;
    for (const auto& [key, value] : data) encoded[key] = to_base64(value);
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
