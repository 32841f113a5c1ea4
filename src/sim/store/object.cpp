#include "sim/store/object.hpp"

#include "k8s_sd/detail/base/hash.hpp"
#include "sim/protobuf/encode.hpp"
#include "sim/store/json_access.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

const json::object& metadata_of(const json::object& value) {
    const json::value* metadata = value.if_contains("metadata");
    if (!metadata || !metadata->is_object()) throw std::invalid_argument("object without metadata");
    return metadata->get_object();
}

/// The value at "spec.nodeName" for field selectors: strings unchanged, booleans and numbers as in
/// JSON, "" for anything else; the first element of a list of addresses.
std::string field_value(const json::object& root, std::string_view path) {
    const json::value* value = value_at(root, path);
    if (!value) {
        const bool flag = path == "spec.hostNetwork" || path == "spec.unschedulable";
        return flag ? "false" : "";
    }
    if (value->is_string()) return std::string(std::string_view(value->get_string()));
    if (value->is_bool() || value->is_number()) return json::serialize(*value);
    if (value->is_array() && !value->get_array().empty()) {
        const json::value& first = value->get_array().front();
        if (first.is_object()) return field_value(first.get_object(), "ip");
    }
    return {};
}

}  // namespace

std::string key_of(const ResourceType& type, std::string_view ns, std::string_view name) {
    return type.namespaced ? std::string(ns) + "/" + std::string(name) : std::string(name);
}

std::string key_of(const ResourceType& type, const json::object& value) {
    const json::object& metadata = metadata_of(value);
    const std::string_view ns = text_at(metadata, "namespace");
    const std::string_view name = text_at(metadata, "name");
    if (name.empty()) throw std::invalid_argument("object without metadata.name");
    if (type.namespaced && ns.empty()) {
        throw std::invalid_argument(std::string(type.kind) + " without metadata.namespace");
    }
    if (name.find('/') != name.npos || ns.find('/') != ns.npos) {
        throw std::invalid_argument("a name or namespace must not contain '/'");
    }
    return key_of(type, ns, name);
}

std::uint64_t version_of(const json::object& value) {
    const std::string_view text = text_at(metadata_of(value), "resourceVersion");
    std::uint64_t version = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw std::invalid_argument("metadata.resourceVersion is not a number");
    }
    return version;
}

Object::Object(const ResourceType& type, json::object value, std::uint64_t version)
    : type_(&type),
      key_(key_of(type, value)),
      version_(version),
      uid_hash_(detail::fnv1a64(text_at(value, "metadata.uid"))) {
    if (type.namespaced) name_begin_ = key_.find('/') + 1;
    value.erase("kind");
    value.erase("apiVersion");
    json::object& metadata = value["metadata"].get_object();
    metadata["resourceVersion"] = std::to_string(version);
    if (const json::value* labels = metadata.if_contains("labels"); labels && labels->is_object()) {
        for (const auto& [label_key, label_value] : labels->get_object()) {
            if (!label_value.is_string()) continue;
            labels_.emplace_back(label_key, std::string_view(label_value.get_string()));
        }
    }
    fields_.reserve(type.fields.size());
    for (const std::string_view path : type.fields) fields_.push_back(field_value(value, path));
    text_ = json::serialize(value);
}

std::string_view Object::ns() const {
    return name_begin_ == 0 ? std::string_view()
                            : std::string_view(key_).substr(0, name_begin_ - 1);
}

std::string_view Object::name() const { return std::string_view(key_).substr(name_begin_); }

const std::string& Object::protobuf() const {
    std::call_once(protobuf_made_, [this] {
        protobuf_ = encode_protobuf(find_message(type_->version, type_->kind), value());
    });
    return protobuf_;
}

json::object Object::value() const { return json::parse(text_).as_object(); }

const Object& Object::without_managed_fields() const {
    std::call_once(bare_made_, [this] {
        json::object bare = value();
        json::object& metadata = bare["metadata"].get_object();
        if (metadata.erase("managedFields") == 0) return;
        bare_ = std::make_unique<const Object>(*type_, std::move(bare), version_);
    });
    return bare_ ? *bare_ : *this;
}

bool Object::matches(const LabelSelector& labels, const FieldSelector& fields) const {
    return labels.matches([this](std::string_view key) { return label(key); }) &&
           fields.matches([this](std::string_view path) { return field(path); });
}

std::optional<std::string_view> Object::label(std::string_view key) const {
    for (const auto& [label_key, value] : labels_) {
        if (label_key == key) return value;
    }
    return std::nullopt;
}

std::optional<std::string_view> Object::field(std::string_view path) const {
    if (path == "metadata.name") return name();
    if (path == "metadata.namespace") return ns();
    const auto found = std::find(type_->fields.begin(), type_->fields.end(), path);
    if (found == type_->fields.end()) return std::nullopt;
    return fields_[static_cast<std::size_t>(found - type_->fields.begin())];
}

ObjectPtr with_version(const Object& object, std::uint64_t version) {
    return std::make_shared<const Object>(object.type(), object.value(), version);
}

}  // namespace k8s_sd::inline v0::sim
