#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"

namespace k8s_sd::inline v0::detail {

ObjectPtr ObjectMaker::make(const DecodedObject& object) {
    return with_kind(object.kind, [&](auto kind) -> ObjectPtr {
        using Model = typename decltype(kind)::Model;
        return kind.make(*static_cast<const Model*>(object.model), options, factory);
    });
}

}  // namespace k8s_sd::inline v0::detail
