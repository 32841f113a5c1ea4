#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// An object for a Store: the metadata common to all objects, and keys for indexes.
struct StoredObject {
    struct Metadata {
        std::string_view namespace_, name;
    };
    StoredObject(std::string ns, std::string name, std::vector<std::string> index_keys, int number)
        : namespace_text(std::move(ns)),
          name_text(std::move(name)),
          keys(std::move(index_keys)),
          version(number),
          metadata{namespace_text, name_text} {}
    StoredObject(const StoredObject&) = delete;
    StoredObject& operator=(const StoredObject&) = delete;

    std::string namespace_text, name_text;
    std::vector<std::string> keys;
    int version;
    Metadata metadata;
};
using StoredPtr = std::shared_ptr<const StoredObject>;

inline StoredPtr stored(std::string ns, std::string name, std::vector<std::string> keys = {},
                        int version = 0) {
    return std::make_shared<StoredObject>(std::move(ns), std::move(name), std::move(keys), version);
}

/// An index function: all keys of an object.
inline constexpr auto all_keys = [](const StoredObject& object, auto& keys) {
    for (const std::string& key : object.keys) keys.add(key);
};

}  // namespace k8s_sd::test
