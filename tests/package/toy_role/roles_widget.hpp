// A role that no configuration has, as k8s_sd/detail/roles/widget.hpp would be.
#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"
#include "k8s_sd/detail/roles/role_traits.hpp"
#include "k8s_sd/detail/roles/shared/address.hpp"
#include "k8s_sd/detail/roles/shared/context.hpp"
#include "k8s_sd/detail/roles/shared/needed_kinds.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace model {

struct Widget {
    ObjectMeta meta;
    std::string_view host;
    std::int64_t port = 0;
};

}  // namespace model

class WidgetObject final : public Object {
 public:
    WidgetObject(const model::Widget& widget, LabelFactory& factory)
        : Object(Kind::widget, widget.meta.uid),
          address(address_label(factory, join_host_port(widget.host, widget.port))),
          own_ns_(widget.meta.ns),
          own_name_(widget.meta.name) {
        set_key(own_ns_, own_name_);
    }
    bool same_content(const Object& other) const noexcept override {
        return same(address, static_cast<const WidgetObject&>(other).address);
    }

    LabelBlockPtr address;

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
        g.group.begin_target().add(widget.address);
    }
};

}  // namespace k8s_sd::inline v0::detail
