#pragma once

#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/kinds/field_mask.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/objects/object.hpp"

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Memory for texts.
struct TextRoom {
    char* make(std::size_t size) {
        memory = std::make_unique_for_overwrite<char[]>(size);
        return memory.get();
    }
    std::unique_ptr<char[]> memory;
};

/// Memory for texts, wiped afterwards.
struct CleansedTextRoom {
    char* make(std::size_t size) {
        memory.resize(size);
        return memory.data();
    }
    CleansedBytes memory;
};

/// A struct of k8s_sd::api with ownership of its texts.
template <class T>
struct OwnedStruct {
    using Room = std::conditional_t<std::is_same_v<T, api::Secret>, CleansedTextRoom, TextRoom>;

    T object;
    Room texts;
};

/// Copies the selected fields of a decoded object, with their texts.
template <class T, class Rows>
std::shared_ptr<OwnedStruct<T>> own_struct(const T& decoded, const Rows& rows,
                                           const FieldMask& mask) {
    auto kept = std::make_shared<OwnedStruct<T>>();
    T& object = kept->object;
    MaskedCopy::copy(decoded, object, rows, mask);
    // The identity is always included.
    object.metadata.name = decoded.metadata.name;
    object.metadata.namespace_ = decoded.metadata.namespace_;
    object.metadata.uid = decoded.metadata.uid;
    object.metadata.resource_version = decoded.metadata.resource_version;
    std::size_t size = 0;
    EachText::of(std::as_const(object), rows, [&](std::string_view text) { size += text.size(); });
    char* to = kept->texts.make(size);
    EachText::of(object, rows, [&](std::string_view& text) {
        text = {to, text.copy(to, text.size())};
        to += text.size();
    });
    return kept;
}

template <class T>
std::shared_ptr<const T> without_texts(std::shared_ptr<OwnedStruct<T>> kept) {
    const T* const object = &kept->object;
    return {std::move(kept), object};
}

/// The struct of an object. \pre it has one. \tparam T  the struct of the object's kind
template <class T>
std::shared_ptr<const T> struct_of(const Object& object) {
    return std::static_pointer_cast<const T>(object.api_object());
}

/// An object stored for hosts only.
template <class T>
class TypedObject final : public Object {
 public:
    TypedObject(Kind kind, std::shared_ptr<const T> object)
        : Object(kind, object->metadata.uid, Form::api_object), object_(std::move(object)) {
        set_key(object_->metadata.namespace_, object_->metadata.name);
    }
    bool same_content(const Object& other) const noexcept override {
        return *object_ == *struct_of<T>(other);
    }
    std::shared_ptr<const void> api_object() const noexcept override { return object_; }

 private:
    std::shared_ptr<const T> object_;
};

/// An object stored for labels and for hosts.
template <class LabelObject, class T>
class TypedLabelObject final : public LabelObject {
 public:
    template <class... Arguments>
    explicit TypedLabelObject(std::shared_ptr<const T> object, Arguments&&... arguments)
        : LabelObject(std::forward<Arguments>(arguments)...), object_(std::move(object)) {
        this->set_form(Object::Form::both);
    }
    bool same_labels(const Object& other) const noexcept override {
        return LabelObject::same_content(other);
    }
    bool same_content(const Object& other) const noexcept override {
        return *object_ == *struct_of<T>(other) && LabelObject::same_content(other);
    }
    std::shared_ptr<const void> api_object() const noexcept override { return object_; }

 private:
    std::shared_ptr<const T> object_;
};

}  // namespace k8s_sd::inline v0::detail
