#include "k8s_sd/detail/config/yaml/json_document.hpp"
#include "k8s_sd/detail/text/decimal.hpp"
#include "k8s_sd/error.hpp"

#include <boost/json/serialize.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr int max_document_depth = 200;

/// An estimate of the memory for the nodes.
std::size_t estimated_bytes(const boost::json::value& value, int depth) {
    if (depth > max_document_depth) return 0;
    std::size_t bytes = 16;
    if (value.is_string()) return bytes + value.get_string().size();
    if (value.is_array()) {
        for (const auto& item : value.get_array()) bytes += estimated_bytes(item, depth + 1);
    }
    if (value.is_object()) {
        for (const auto& entry : value.get_object()) {
            bytes += 16 + entry.key().size() + estimated_bytes(entry.value(), depth + 1);
        }
    }
    return bytes;
}

class JsonNodes {
 public:
    explicit JsonNodes(YamlDocument& document) : document_(document) {}

    const YamlNode& node(const boost::json::value& value, int depth = 0) {
        if (depth > max_document_depth) throw ConfigError(document_.file(), "is nested too deeply");
        if (value.is_null()) return document_.add(YamlNode::Kind::null, line);
        if (value.is_string()) return document_.add_scalar(value.get_string(), false, line);
        if (value.is_array()) {
            return collection(YamlNode::Kind::sequence, [&](auto& parts) {
                for (const auto& item : value.get_array()) parts.push_back(&node(item, depth + 1));
            });
        }
        if (value.is_object()) {
            return collection(YamlNode::Kind::mapping, [&](auto& parts) {
                for (const auto& entry : value.get_object()) {
                    parts.push_back(&document_.add_scalar(entry.key(), false, line));
                    parts.push_back(&node(entry.value(), depth + 1));
                }
            });
        }
        if (value.is_double())
            return document_.add_scalar(decimal_text(value.get_double()), true, line);
        return document_.add_scalar(boost::json::serialize(value), true, line);
    }

 private:
    static constexpr int line = 1;

    template <class Fill>
    const YamlNode& collection(YamlNode::Kind kind, const Fill& fill) {
        YamlNode& node = document_.add(kind, line);
        std::vector<const YamlNode*> parts;
        fill(parts);
        node.parts = document_.keep(YamlParts(parts));
        return node;
    }

    YamlDocument& document_;
};

}  // namespace

YamlValue yaml_of(const boost::json::value& value, const std::string& file) {
    auto document = std::make_shared<YamlDocument>(estimated_bytes(value, 0), file);
    const YamlNode& root = JsonNodes(*document).node(value);
    if (root.kind != YamlNode::Kind::null) document->set_root(&root);
    return YamlValue::of(std::move(document));
}

}  // namespace k8s_sd::inline v0::detail
