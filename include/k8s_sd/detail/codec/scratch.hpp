#pragma once

#include "k8s_sd/detail/objects/model/document.hpp"

#include <cstddef>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Memory for one decoded object of a kind. Reused for every object.
class Scratch {
 public:
    virtual ~Scratch() = default;
    /// The destination of decoders: a KindTraits<kind>::Model.
    virtual void* model() noexcept = 0;
    virtual const api::ObjectMeta& meta() const noexcept = 0;
    virtual const model::DocumentHead& head() const noexcept = 0;
    virtual void clear() = 0;
};

template <class Model>
class ScratchOf final : public Scratch {
 public:
    void* model() noexcept override { return static_cast<Model*>(&document_); }
    const api::ObjectMeta& meta() const noexcept override { return document_.metadata; }
    const model::DocumentHead& head() const noexcept override { return document_; }
    void clear() override {
        // Keep the memory of labels and annotations, the longest vectors.
        auto labels = emptied(document_.metadata.labels);
        auto annotations = emptied(document_.metadata.annotations);
        document_ = {};
        document_.metadata.labels = std::move(labels);
        document_.metadata.annotations = std::move(annotations);
    }

 private:
    template <class Vector>
    static Vector emptied(Vector& vector) {
        constexpr std::size_t max_kept = 1024;
        if (vector.capacity() > max_kept) return {};
        vector.clear();
        return std::move(vector);
    }

    model::Document<Model> document_;
};

}  // namespace k8s_sd::inline v0::detail
