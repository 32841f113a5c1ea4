#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Documents in Kubernetes' protobuf, written by hand.
namespace k8s_sd::test::protobuf_documents {

/// A message, field by field, in the order of the calls.
struct Message {
    std::string bytes;

    Message& raw(std::string_view more) {
        bytes += more;
        return *this;
    }
    Message& integer(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
        bytes += static_cast<char>(value);
        return *this;
    }
    Message& number(unsigned field, std::int64_t value) {
        return integer(field << 3U).integer(static_cast<std::uint64_t>(value));
    }
    Message& text(unsigned field, std::string_view value) {
        return integer(field << 3U | 2U).integer(value.size()).raw(value);
    }
    Message& add(unsigned field, const Message& inner) { return text(field, inner.bytes); }
    Message& pair(unsigned field, std::string_view key, std::string_view value) {
        return add(field, Message().text(1, key).text(2, value));
    }
};

/// An object with its envelope.
inline std::string document(std::string_view kind, const Message& object,
                            std::string_view api_version = "v1") {
    return std::string("k8s\0", 4) + Message()
                                         .add(1, Message().text(1, api_version).text(2, kind))
                                         .add(2, object)
                                         .text(3, "")
                                         .text(4, "")
                                         .bytes;
}

inline Message list(const std::initializer_list<Message>& items, std::string_view version = "100",
                    std::string_view token = {}) {
    Message all;
    all.add(1, Message().text(1, "").text(2, version).text(3, token));
    for (const Message& item : items) all.add(2, item);
    return all;
}

/// Prefixes the bytes with their length.
inline std::string frame(const std::string& bytes) {
    std::string head;
    for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(bytes.size() >> shift);
    return head + bytes;
}
inline std::string event(std::string_view type, const std::string& document) {
    return frame(Message().text(1, type).add(2, Message().text(1, document)).bytes);
}

inline Message metadata(std::string_view name, std::string_view ns = "n",
                        std::string_view version = "7") {
    return Message().text(1, name).text(2, "").text(3, ns).text(5, "u").text(6, version);
}
inline Message object(const Message& metadata) { return Message().add(1, metadata); }

}  // namespace k8s_sd::test::protobuf_documents
