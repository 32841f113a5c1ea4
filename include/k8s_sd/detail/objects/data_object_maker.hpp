#pragma once

#include "k8s_sd/data_object.hpp"
#include "k8s_sd/detail/objects/model/data_map.hpp"

namespace k8s_sd::inline v0::detail {

inline ObjectPtr make_data_object(Kind kind, const model::DataMap& object) {
    const auto names = {object.metadata.namespace_, object.metadata.name, object.type};
    std::size_t room = 0;
    const auto count = [&](std::string_view text) {
        room += PackedTexts::packed_size(text.size());
    };
    for (const std::string_view text : names) count(text);
    for (const auto& [key, value] : object.data) {
        count(key);
        count(value);
    }
    PackedTexts texts(room);
    for (const std::string_view text : names) texts.append(text);
    for (const auto& [key, value] : object.data) {
        texts.append(key);
        texts.append(value);
    }
    return new DataObject(kind, object.metadata.uid, object.immutable, std::move(texts));
}

}  // namespace k8s_sd::inline v0::detail
