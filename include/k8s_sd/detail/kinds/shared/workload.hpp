#pragma once

#include "k8s_sd/api/owners.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// A ReplicaSet or a Job, used only as the link to its controlling workload.
class WorkloadLink : public Object {
 public:
    WorkloadLink(const api::ReplicaSet& object, const RoleOptions&, LabelFactory&)
        : WorkloadLink(Kind::replicaset, object.metadata) {}
    WorkloadLink(const api::Job& object, const RoleOptions&, LabelFactory&)
        : WorkloadLink(Kind::job, object.metadata) {}
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const WorkloadLink&>(other);
        return controller_kind == o.controller_kind && controller_name == o.controller_name;
    }

    std::string controller_kind;
    std::string controller_name;

 private:
    WorkloadLink(Kind kind, const api::ObjectMeta& meta)
        : Object(kind, meta.uid), own_ns_(meta.namespace_), own_name_(meta.name) {
        set_key(own_ns_, own_name_);
        if (const auto* controller = meta.controller()) {
            controller_kind = controller->kind;
            controller_name = controller->name;
        }
    }

    std::string own_ns_;
    std::string own_name_;
};

}  // namespace k8s_sd::inline v0::detail
