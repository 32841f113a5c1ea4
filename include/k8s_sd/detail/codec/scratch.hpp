#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

#include <cstddef>
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
        auto labels = emptied(model_.meta.labels);
        auto annotations = emptied(model_.meta.annotations);
        model_ = Model();
        model_.meta.labels = std::move(labels);
        model_.meta.annotations = std::move(annotations);
    }

 private:
    template <class Vector>
    static Vector emptied(Vector& vector) {
        constexpr std::size_t most_kept = 1024;
        if (vector.capacity() > most_kept) return {};
        vector.clear();
        return std::move(vector);
    }

    Model model_;
};

}  // namespace k8s_sd::inline v0::detail
