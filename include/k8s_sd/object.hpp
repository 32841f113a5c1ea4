#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/fnv1a.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/labels.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
struct ObjectAudience;
}  // namespace detail

/// A Kubernetes object as it is kept: what it contributes to labels, made once, in shared blocks.
/// Immutable; may be read and released on any thread. The strings behind ns() and name() belong
/// to the derived object.
class K8S_SD_EXPORT Object : public boost::intrusive_ref_counter<Object> {
 public:
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    virtual ~Object() = default;

    /// What the object is.
    Kind kind() const noexcept { return kind_; }
    /// Its namespace; empty for kinds without namespaces.
    std::string_view ns() const noexcept { return ns_; }
    /// Its name.
    std::string_view name() const noexcept { return name_; }
    /// All that the object itself contributes to labels: its name, addresses, labels, annotations
    /// and so on; not what differs from target to target, such as ports.
    LabelMap labels() const {
        std::vector<detail::LabelBlockPtr> blocks;
        collect(blocks);
        return Labels(blocks.data(), blocks.data() + blocks.size()).to_map();
    }
    /// The object's labels and annotations as `__meta_kubernetes_<kind>_label_…` and so on; none
    /// for kinds of which only the owner is kept.
    virtual Labels metadata_labels() const noexcept { return {}; }
    /// Two objects of one name with different UIDs are different objects.
    bool same_uid(const Object& other) const noexcept { return uid_hash_ == other.uid_hash_; }
    /// The hash of the UID that decides about shares, see ObjectShare.
    std::uint64_t uid_hash() const noexcept { return uid_hash_; }
    bool has_labels() const noexcept { return form_ != Form::api_object; }
    bool has_api_object() const noexcept { return form_ != Form::labels; }
    /// True if nothing that is kept differs. The other one is kept for the same.
    virtual bool same_content(const Object& other) const noexcept = 0;
    /// True if nothing that reaches a label differs.
    virtual bool same_labels(const Object& other) const noexcept { return same_content(other); }
    /// The struct of k8s_sd::api that is kept of it, or null: see Watcher.
    virtual std::shared_ptr<const void> api_object() const noexcept { return nullptr; }

 protected:
    /// Appends the blocks behind labels(); null blocks count as empty.
    virtual void collect(std::vector<detail::LabelBlockPtr>& /*blocks*/) const {}

    /// What an object is kept for.
    enum class Form : std::uint16_t { labels, api_object, both };

    /// The derived class calls set_key() as well.
    Object(Kind kind, std::string_view uid, Form form = Form::labels) noexcept
        : kind_(kind), form_(form), uid_hash_(detail::fnv1a64(uid)) {}
    void set_form(Form form) noexcept { form_ = form; }
    /// Texts that live as long as the object.
    void set_key(std::string_view ns, std::string_view name) noexcept {
        ns_ = ns;
        name_ = name;
    }

 private:
    friend struct detail::ObjectAudience;

    Kind kind_ : 14;
    Form form_ : 2;
    std::uint16_t audience_ = 0;
    std::uint64_t uid_hash_;
    std::string_view ns_;
    std::string_view name_;
};

/// Shared ownership of an object.
using ObjectPtr = boost::intrusive_ptr<const Object>;

/// One true change. `before` or `after` is null where the object is absent. If both are there
/// with different UIDs, the object was deleted and another one of its name was added.
struct ObjectChange {
    ObjectPtr before;  ///< null: the object was absent
    ObjectPtr after;   ///< null: the object is gone
};

}  // namespace k8s_sd::inline v0
