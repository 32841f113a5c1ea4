#pragma once

#include "k8s_sd/data_object.hpp"
#include "k8s_sd/detail/base/base64.hpp"
#include "k8s_sd/detail/objects/model/data_map.hpp"

namespace k8s_sd::inline v0::detail {

inline void append_plain(PackedTexts& texts, const model::DataMap::Pairs& pairs) {
    for (const auto& [key, value] : pairs) {
        texts.append(key);
        texts.append(value);
    }
}

/// False if a value is not base64.
inline bool append_decoded(PackedTexts& texts, const model::DataMap::Pairs& pairs) {
    for (const auto& [key, value] : pairs) {
        texts.append(key);
        char* const text = texts.append_room(base64_room(value.size()));
        const auto size = decode_base64(value, text);
        if (!size) return false;
        texts.trim(text, *size);
    }
    return true;
}

/// Null if a value that has to be base64 is not.
inline ObjectPtr make_data_object(Kind kind, const model::DataMap& object) {
    const bool secret = kind == Kind::secret;
    static const model::DataMap::Pairs none;
    const auto& plain = secret ? none : object.data;
    const auto& encoded = secret ? object.data : object.binary_data;
    std::size_t room = 0;
    const auto count = [&](std::size_t text) { room += PackedTexts::packed_size(text); };
    for (const auto text : {object.meta.ns, object.meta.name, object.type}) count(text.size());
    for (const auto& [key, value] : plain)
        count(key.size() + value.size() + PackedTexts::packed_size(0));
    for (const auto& [key, value] : encoded)
        count(key.size() + base64_room(value.size()) + PackedTexts::packed_size(0));

    PackedTexts texts(room);
    for (const auto text : {object.meta.ns, object.meta.name, object.type}) texts.append(text);
    append_plain(texts, plain);
    if (!append_decoded(texts, encoded)) return nullptr;
    return new DataObject(kind, object.meta.uid, object.immutable, std::move(texts));
}

}  // namespace k8s_sd::inline v0::detail
