// A kind unknown to Kubernetes and the role of its targets, in the form of
// k8s_sd/detail/kinds/<kind>.hpp.
#pragma once

#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// In the form of k8s_sd/api/widget.hpp.
struct WidgetSpec {
    std::string_view host;
    std::int64_t port = 0;
    bool operator==(const WidgetSpec&) const = default;
};
struct Widget {
    api::ObjectMeta metadata;
    WidgetSpec spec;
    bool operator==(const Widget&) const = default;
};

class WidgetObject;

template <>
struct Table<WidgetSpec> {
    static constexpr FieldRows rows{
        Row<&WidgetSpec::host>{"host", 1, Use::labels},
        Row<&WidgetSpec::port>{"port", 2, Use::labels},
    };
};

template <>
struct KindTraits<Kind::widget> {
    using Model = Widget;
    using LabelObject = WidgetObject;
    static constexpr FieldRows rows{
        Row<&Widget::metadata>{"metadata", 1, Use::always},
        Row<&Widget::spec>{"spec", 2, Use::labels},
    };
};

class WidgetObject : public Object {
 public:
    WidgetObject(const Widget& widget, const RoleOptions&, LabelFactory&)
        : Object(Kind::widget, widget.metadata.uid),
          address(join_host_port(widget.spec.host, widget.spec.port)),
          own_ns_(widget.metadata.namespace_),
          own_name_(widget.metadata.name) {
        set_key(own_ns_, own_name_);
    }
    bool same_content(const Object& other) const noexcept override {
        return address == static_cast<const WidgetObject&>(other).address;
    }

    std::string address;

 private:
    std::string own_ns_, own_name_;
};

template <>
struct RoleTraits<Role::widget> {
    using MainObject = WidgetObject;
    static constexpr std::string_view source_prefix = "toy/";
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_attached_to_objects(attach, kinds);
    }
    static void generate(const WidgetObject& widget, GeneratorContext& g) {
        g.group.begin_target(widget.address);
    }
};

}  // namespace k8s_sd::inline v0::detail
