#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/model/pod.hpp"
#include "k8s_sd/detail/roles/pod.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::pod> {
    using Model = model::Pod;

    // Laid out by hand: one field a line, as deep as the document.
    // clang-format off
    static Members json_members() {
        using P = model::Pod;
        using C = model::Container;
        using S = model::ContainerStatus;
        using namespace project;
        const Members container{
            {"name", text<&C::name>()},
            {"image", text<&C::image>()},
            {"restartPolicy", text<&C::restart_policy>()},
            {"ports", array<&C::ports>({
                {"name", text<&model::ContainerPort::name>()},
                {"containerPort", number<&model::ContainerPort::number>()},
                {"protocol", text<&model::ContainerPort::protocol>()},
            })},
        };
        const Members status{
            {"name", text<&S::name>()},
            {"containerID", text<&S::id>()},
            {"state", object({{"terminated", presence<&S::terminated>()}})},
        };
        return object_members<P>({
            {"spec", object({
                {"nodeName", text<&P::node_name>()},
                {"containers", array<&P::containers>(container)},
                {"initContainers", array<&P::init_containers>(container)},
            })},
            {"status", object({
                {"phase", text<&P::phase>()},
                {"podIP", text<&P::pod_ip>()},
                {"hostIP", text<&P::host_ip>()},
                {"conditions", array<&P::conditions>({
                    {"type", text<&model::PodCondition::type>()},
                    {"status", text<&model::PodCondition::status>()},
                })},
                {"containerStatuses", array<&P::container_statuses>(status)},
                {"initContainerStatuses", array<&P::init_container_statuses>(status)},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& pod, const RoleOptions&, LabelFactory& factory) {
        return new PodObject(pod, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
