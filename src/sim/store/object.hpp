#pragma once

#include "k8s_sd/selector.hpp"
#include "sim/store/resource_type.hpp"

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// One version of an object: its serialized forms, kept once for the store, the history and every
/// response, and its values for selectors.
class Object {
 public:
    /// \param value  with or without kind and apiVersion; metadata.resourceVersion is `version`
    Object(const ResourceType&, boost::json::object value, std::uint64_t version);

    const ResourceType& type() const { return *type_; }
    /// "namespace/name", or "name" without namespaces: lists are in the order of keys.
    std::string_view key() const { return key_; }
    std::string_view ns() const;
    std::string_view name() const;
    /// fnv1a64() of metadata.uid.
    std::uint64_t uid_hash() const { return uid_hash_; }
    std::uint64_t version() const { return version_; }
    /// Compact JSON without kind and apiVersion, as in the items of a list.
    const std::string& text() const { return text_; }
    /// The same as a protobuf message of the type's own version; made at the first call.
    const std::string& protobuf() const;
    boost::json::object value() const;
    /// The same without metadata.managedFields; made at the first call.
    const Object& without_managed_fields() const;

    bool matches(const LabelSelector&, const FieldSelector&) const;

 private:
    std::optional<std::string_view> label(std::string_view key) const;
    std::optional<std::string_view> field(std::string_view path) const;

    const ResourceType* type_;
    std::string key_;
    std::size_t name_begin_ = 0;
    std::uint64_t version_;
    std::uint64_t uid_hash_;
    std::string text_;
    mutable std::once_flag protobuf_made_;
    mutable std::string protobuf_;
    mutable std::once_flag bare_made_;
    mutable std::unique_ptr<const Object> bare_;  ///< null: there are no managedFields
    std::vector<std::pair<std::string, std::string>> labels_;
    std::vector<std::string> fields_;  ///< values of type().fields, in their order
};

using ObjectPtr = std::shared_ptr<const Object>;

/// \throws std::invalid_argument if metadata or the name is missing, or the namespace of a
/// namespaced kind, or if any of them contains '/'
std::string key_of(const ResourceType&, const boost::json::object&);
std::string key_of(const ResourceType&, std::string_view ns, std::string_view name);

/// metadata.resourceVersion as a number. \throws std::invalid_argument
std::uint64_t version_of(const boost::json::object&);

/// The content with another version: a DELETED event has the last state with the version of the
/// deletion.
ObjectPtr with_version(const Object&, std::uint64_t version);

}  // namespace k8s_sd::inline v0::sim
