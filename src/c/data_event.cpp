#include "data_event.hpp"

#include "k8s_sd/detail/text/base64.hpp"

#include <string>

namespace k8s_sd_c {

using k8s_sd::detail::cleanse;
using k8s_sd::detail::CleansedBytes;

namespace {

/// Wipes a text at the end of its scope.
struct Wiping {
    std::string& text;
    ~Wiping() { cleanse(text.data(), text.size()); }
};

}  // namespace

std::size_t DataEvent::pairs(std::size_t, std::int64_t set, std::span<k8s_sd_pair> out) const {
    return object_ && set == K8S_SD_DATA ? copy_pairs(*object_, out) : 0;
}

std::optional<std::string_view> DataEvent::value(std::size_t, std::int64_t set,
                                                 std::string_view name) const {
    return object_ && set == K8S_SD_DATA ? object_->get(name) : std::nullopt;
}

std::optional<std::string_view> DataEvent::field(std::size_t, std::string_view pointer) {
    if (!object_) return std::nullopt;
    if (pointer == "/type") return object_->type();
    if (pointer == "/immutable") return object_->immutable() ? "true" : "false";
    return std::nullopt;
}

void DataEvent::write_change(JsonWriter& out, std::size_t) {
    out.member("type", object_->type()).member("immutable", object_->immutable());
    out.name("data").begin('{');
    for (const auto& [name, value] : *object_) {
        const auto text = k8s_sd::detail::encode_base64<CleansedBytes>(value);
        out.member(name, view(text));
    }
    out.end('}');
}

std::size_t DataEvent::max_json_size() const {
    constexpr std::size_t frame = 256;
    constexpr std::size_t escape = 6;  // \\u00XX
    std::size_t size = frame + escape * key_.size();
    if (!object_) return size;
    for (const auto& [name, value] : *object_) {
        size += escape * name.size() + 2 * value.size() + frame;
    }
    return size + escape * object_->type().size();
}

std::string_view DataEvent::json() {
    if (json_.empty()) {
        std::string text = make_json(max_json_size());
        const Wiping wiping{text};
        CleansedBytes ended;
        ended.reserve(text.size() + 1);
        append(ended, text);
        ended.push_back('\0');
        json_.swap(ended);  // whole, or not at all
    }
    return {json_.data(), json_.size() - 1};
}

}  // namespace k8s_sd_c
