#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/labels.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

namespace k8s_sd::inline v0 {

namespace detail {
struct ObjectTag;

/// The limit of the name and of the namespace of an object. Those of Kubernetes have 253 bytes.
inline constexpr std::size_t max_key_size = std::numeric_limits<std::uint16_t>::max();

/// Half of seeded_hash(): each object stores it, so a growing table hashes no text.
inline std::uint32_t short_key_hash(std::string_view ns, std::string_view name) noexcept {
    return static_cast<std::uint32_t>(seeded_hash(ns, name));
}
}  // namespace detail

/// A cached Kubernetes object: its contribution to labels, made once, in shared blocks. Immutable;
/// may be read and released on any thread. The strings of ns() and name() belong to the derived
/// object.
class K8S_SD_EXPORT Object : public boost::intrusive_ref_counter<Object> {
 public:
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    virtual ~Object() = default;

    /// The object's kind.
    Kind kind() const noexcept { return kind_; }
    /// The object's namespace; empty for kinds without namespaces.
    std::string_view ns() const noexcept { return {ns_, ns_size_}; }
    /// The object's name.
    std::string_view name() const noexcept { return {name_, name_size_}; }
    /// The labels contributed by the object itself: from its name, addresses, labels, annotations
    /// and so on, without those specific to a target, such as ports.
    virtual LabelMap labels() const { return {}; }
    /// The object's labels and annotations as `__meta_kubernetes_<kind>_label_…` and so on; empty
    /// for kinds with only their owner kept. Those of a node have its name, too.
    virtual Labels metadata_labels() const noexcept { return {}; }
    /// The hash of ns() and name() for tables, as detail::short_key_hash() makes it. Differs
    /// between processes.
    std::uint32_t key_hash() const noexcept { return key_hash_; }
    /// Whether the UIDs are equal. Objects with one name and different UIDs are different objects.
    bool same_uid(const Object& other) const noexcept { return uid_hash_ == other.uid_hash_; }
    /// The hash of the UID for shares, see ObjectShare.
    std::uint64_t uid_hash() const noexcept { return uid_hash_; }
    /// Whether the labels are kept.
    bool has_labels() const noexcept { return form_ != Form::api_object; }
    /// Whether the struct of k8s_sd::api is kept.
    bool has_api_object() const noexcept { return form_ != Form::labels; }
    /// True if the cached contents are equal, for objects cached in the same form.
    virtual bool same_content(const Object& other) const noexcept = 0;
    /// True if all content with an effect on labels is equal.
    virtual bool same_labels(const Object& other) const noexcept { return same_content(other); }
    /// The object's struct of k8s_sd::api; null if it is not kept: see Watcher.
    virtual std::shared_ptr<const void> api_object() const noexcept { return nullptr; }

 protected:
    /// The form of the cached content.
    enum class Form : std::uint16_t { labels, api_object, both };

    /// The derived class must also call set_key().
    Object(Kind kind, std::string_view uid, Form form = Form::labels) noexcept
        : kind_(kind), form_(form), uid_hash_(detail::fnv1a64(uid)) {}
    /// Replaces the form given at construction. Call it before other threads have the object.
    void set_form(Form form) noexcept { form_ = form; }
    /// The strings must live as long as the object, and have at most detail::max_key_size bytes.
    void set_key(std::string_view ns, std::string_view name) noexcept {
        assert(ns.size() <= detail::max_key_size && name.size() <= detail::max_key_size);
        ns_ = ns.data();
        ns_size_ = static_cast<std::uint16_t>(ns.size());
        name_ = name.data();
        name_size_ = static_cast<std::uint16_t>(name.size());
        key_hash_ = detail::short_key_hash(this->ns(), this->name());
    }

 private:
    friend struct detail::Access;

    Kind kind_ : 14;
    Form form_ : 2;
    [[maybe_unused]] std::uint16_t tag_ = 0;  // for detail::Access
    std::uint64_t uid_hash_;
    // Two views would take 16 bytes more.
    const char* ns_ = nullptr;
    const char* name_ = nullptr;
    std::uint16_t ns_size_ = 0;
    std::uint16_t name_size_ = 0;
    std::uint32_t key_hash_ = 0;
};

/// Shared ownership of an object.
using ObjectPtr = boost::intrusive_ptr<const Object>;

/// One true change. `before` or `after` is null if the object is absent. If both are present with
/// different UIDs, the object was deleted and another one with the same name was added.
struct ObjectChange {
    ObjectPtr before;  ///< null: absent before
    ObjectPtr after;   ///< null: absent after
};

}  // namespace k8s_sd::inline v0
