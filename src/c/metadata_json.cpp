#include "metadata_json.hpp"

#include <boost/json/array.hpp>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_c {

namespace {

namespace api = k8s_sd::api;
namespace json = boost::json;

json::string text(std::string_view value) { return json::string(value.data(), value.size()); }

void put(json::object& object, const char* name, std::string_view value) {
    if (!value.empty()) object[name] = text(value);
}

void put(json::object& object, const char* name, const std::optional<api::Time>& time) {
    if (!time) return;
    const auto day = std::chrono::floor<std::chrono::days>(*time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(*time - day);
    std::array<char, 32> buffer{};
    const int size = std::snprintf(
        buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
        static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
        static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
    put(object, name, std::string_view(buffer.data(), static_cast<std::size_t>(size)));
}

void put(json::object& object, const char* name, const api::StringMap& map) {
    if (map.empty()) return;
    json::object members;
    for (const auto& [key, value] : map) members[{key.data(), key.size()}] = text(value);
    object[name] = std::move(members);
}

void put_owners(json::object& object, const std::vector<api::OwnerReference>& references) {
    json::array owners;
    for (const api::OwnerReference& reference : references) {
        json::object owner;
        put(owner, "apiVersion", reference.api_version);
        put(owner, "kind", reference.kind);
        put(owner, "name", reference.name);
        put(owner, "uid", reference.uid);
        if (reference.controller) owner["controller"] = true;
        owners.emplace_back(std::move(owner));
    }
    if (!owners.empty()) object["ownerReferences"] = std::move(owners);
}

}  // namespace

json::object metadata_json(const api::ObjectMeta& metadata) {
    json::object object;
    put(object, "name", metadata.name);
    put(object, "namespace", metadata.namespace_);
    put(object, "uid", metadata.uid);
    put(object, "resourceVersion", metadata.resource_version);
    put(object, "generateName", metadata.generate_name);
    if (metadata.generation != 0) object["generation"] = metadata.generation;
    put(object, "creationTimestamp", metadata.creation_timestamp);
    put(object, "deletionTimestamp", metadata.deletion_timestamp);
    put(object, "labels", metadata.labels);
    put(object, "annotations", metadata.annotations);
    put_owners(object, metadata.owner_references);
    json::array finalizers;
    for (const std::string_view finalizer : metadata.finalizers) {
        finalizers.emplace_back(text(finalizer));
    }
    if (!finalizers.empty()) object["finalizers"] = std::move(finalizers);
    return object;
}

}  // namespace k8s_sd_c
