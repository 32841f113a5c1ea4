#pragma once

#include "k8s_sd/api/config_map.hpp"
#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/objects/data_object.hpp"

#include <initializer_list>

namespace k8s_sd::inline v0::detail {

class DataObjectMaker {
 public:
    static ObjectPtr make(const api::Secret& secret) {
        return make(Kind::secret, secret, secret.type, {&secret.data});
    }
    static ObjectPtr make(const api::ConfigMap& map) {
        return make(Kind::configmap, map, {}, {&map.data, &map.binary_data});
    }

 private:
    using Maps = std::initializer_list<const api::StringMap*>;

    template <class Model>
    static ObjectPtr make(Kind kind, const Model& object, std::string_view type, Maps maps) {
        std::size_t room = 0;
        for_each_text(object.metadata, type, maps, [&](std::string_view text) {
            room += PackedTexts::packed_size(text.size());
        });
        PackedTexts texts(room);
        for_each_text(object.metadata, type, maps,
                      [&](std::string_view text) { texts.append(text); });
        return new DataObject(kind, object.metadata.uid, object.immutable, std::move(texts));
    }

    template <class Visit>
    static void for_each_text(const api::ObjectMeta& metadata, std::string_view type, Maps maps,
                              const Visit& visit) {
        for (const std::string_view text : {metadata.namespace_, metadata.name, type}) visit(text);
        for (const api::StringMap* map : maps) {
            for (const auto& [key, value] : *map) {
                visit(key);
                visit(value);
            }
        }
    }
};

}  // namespace k8s_sd::inline v0::detail
