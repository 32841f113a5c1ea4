#pragma once

#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/labels.hpp"
#include "k8s_sd/objects/object.hpp"

#include <vector>

namespace k8s_sd::inline v0::detail {

/// An object with labels of its own.
class LabelObject : public Object {
 public:
    LabelMap labels() const final {
        std::vector<LabelBlockPtr> blocks;
        collect(blocks);
        return Access::make<Labels>(blocks.data(), blocks.data() + blocks.size()).to_map();
    }

 protected:
    using Object::Object;
    /// Appends the blocks behind labels(); null blocks count as empty.
    virtual void collect(std::vector<LabelBlockPtr>& blocks) const = 0;
};

}  // namespace k8s_sd::inline v0::detail
