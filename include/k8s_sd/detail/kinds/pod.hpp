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
    static Members members() {
        using P = model::Pod;
        using C = model::Container;
        using S = model::ContainerStatus;
        using namespace project;
        const Members container{
            {"name", 1, text<&C::name>()},
            {"image", 2, text<&C::image>()},
            {"restartPolicy", 24, text<&C::restart_policy>()},
            {"ports", 6, array<&C::ports>({
                {"name", 1, text<&model::ContainerPort::name>()},
                {"containerPort", 3, number<&model::ContainerPort::number>()},
                {"protocol", 4, text<&model::ContainerPort::protocol>()},
            })},
        };
        const Members status{
            {"name", 1, text<&S::name>()},
            {"containerID", 8, text<&S::id>()},
            {"state", 2, object({{"terminated", 3, presence<&S::terminated>()}})},
        };
        return object_members<P>({
            {"spec", 2, object({
                {"nodeName", 10, text<&P::node_name>()},
                {"containers", 2, array<&P::containers>(container)},
                {"initContainers", 20, array<&P::init_containers>(container)},
            })},
            {"status", 3, object({
                {"phase", 1, text<&P::phase>()},
                {"podIP", 6, text<&P::pod_ip>()},
                {"hostIP", 5, text<&P::host_ip>()},
                {"conditions", 2, array<&P::conditions>({
                    {"type", 1, text<&model::PodCondition::type>()},
                    {"status", 2, text<&model::PodCondition::status>()},
                })},
                {"containerStatuses", 8, array<&P::container_statuses>(status)},
                {"initContainerStatuses", 10, array<&P::init_container_statuses>(status)},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& pod, const RoleOptions&, LabelFactory& factory) {
        return new PodObject(pod, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
