#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

/// Room for one decoded object of a kind. Used again for every object.
class Scratch {
 public:
    virtual ~Scratch() = default;
    /// What decoders fill: a KindTraits<kind>::Model.
    virtual void* model() noexcept = 0;
    virtual const model::ObjectMeta& meta() const noexcept = 0;
    virtual void clear() = 0;
};

template <class Model>
class ScratchOf final : public Scratch {
 public:
    void* model() noexcept override { return &model_; }
    const model::ObjectMeta& meta() const noexcept override { return model_.meta; }
    void clear() override {
        // Labels and annotations are the longest vectors; their memory is kept.
        auto labels = std::move(model_.meta.labels);
        auto annotations = std::move(model_.meta.annotations);
        labels.clear();
        annotations.clear();
        model_ = Model();
        model_.meta.labels = std::move(labels);
        model_.meta.annotations = std::move(annotations);
    }

 private:
    Model model_;
};

}  // namespace k8s_sd::inline v0::detail
