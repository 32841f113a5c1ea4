#include "k8s_sd/detail/kinds/generic.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

namespace json = boost::json;

constexpr std::string_view metadata_key = "metadata";

std::string path_to(std::string_view around, std::string_view key) {
    std::string path(around);
    if (!path.empty()) path += '.';
    return path += key;
}

/// Recursion is bounded: the decoder limits the depth of objects.
std::optional<json::value> keep(const json::value& value, const std::string& path,
                                const Fields& fields) {
    if (!fields.reaches(path)) return std::nullopt;
    if (fields.includes(Fields({path}))) return value;
    if (const json::object* object = value.if_object()) {
        json::object kept;
        for (const auto& [key, member] : *object) {
            if (auto part = keep(member, path_to(path, key), fields))
                kept.emplace(key, std::move(*part));
        }
        return kept;
    }
    if (const json::array* array = value.if_array()) {
        json::array kept;
        kept.reserve(array->size());
        for (const json::value& element : *array)
            kept.push_back(keep(element, path, fields).value_or(nullptr));
        return kept;
    }
    return std::nullopt;  // not an object, so the wanted fields are absent
}

}  // namespace

bool are_of_metadata(const Fields& fields) noexcept {
    return std::all_of(fields.paths().begin(), fields.paths().end(), [](std::string_view path) {
        return path == metadata_key || path.starts_with("metadata.");
    });
}

json::object keep_content(const json::object& document, const Fields& fields) {
    json::object kept;
    for (const auto& [key, member] : document) {
        if (std::string_view(key) == metadata_key) continue;
        if (auto part = keep(member, std::string(key), fields)) kept.emplace(key, std::move(*part));
    }
    return kept;
}

bool same_content(const json::object& a, const json::object& b, const Fields& fields) {
    return a == b || keep_content(a, fields) == keep_content(b, fields);
}

}  // namespace k8s_sd::inline v0::detail
