#pragma once

#include <catch2/catch_test_macros.hpp>
#include <protozero/pbf_reader.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Reads the server's protobuf independently of its tables.
namespace k8s_sd::test {

/// The bytes, text or message in the first field of this number; "" without one.
inline std::string field(std::string_view message, std::uint32_t number) {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
        if (reader.tag() == number &&
            reader.wire_type() == protozero::pbf_wire_type::length_delimited)
            return reader.get_string();
        reader.skip();
    }
    return {};
}

inline std::vector<std::string> fields(std::string_view message, std::uint32_t number) {
    std::vector<std::string> all;
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next(number)) all.push_back(reader.get_string());
    return all;
}

inline std::int64_t number_field(std::string_view message, std::uint32_t number) {
    protozero::pbf_reader reader(message.data(), message.size());
    return reader.next(number) ? reader.get_int64() : 0;
}

/// "k8s\0" and a runtime.Unknown.
struct ProtobufBody {
    explicit ProtobufBody(std::string_view bytes) {
        REQUIRE(bytes.substr(0, 4) == std::string_view("k8s\0", 4));
        const std::string_view unknown = bytes.substr(4);
        api_version = field(field(unknown, 1), 1);
        kind = field(field(unknown, 1), 2);
        message = field(unknown, 2);
    }

    std::string api_version;
    std::string kind;
    std::string message;
};

struct ProtobufEvent {
    std::string type;
    ProtobufBody object;

    std::string metadata() const { return field(object.message, 1); }
    /// "ADDED Pod a 5"
    std::string summary() const {
        std::string text =
            type + " " + object.kind + " " + field(metadata(), 1) + " " + field(metadata(), 6);
        for (const std::string& annotation : fields(metadata(), 12)) {
            if (field(annotation, 1) == "k8s.io/initial-events-end") text += " initial-events-end";
        }
        return text;
    }
};

/// The frames of a watch. They must be complete.
inline std::vector<ProtobufEvent> protobuf_events(std::string_view stream) {
    std::vector<ProtobufEvent> events;
    while (!stream.empty()) {
        REQUIRE(stream.size() >= 4);
        std::size_t size = 0;
        for (const char c : stream.substr(0, 4)) size = size << 8U | static_cast<unsigned char>(c);
        REQUIRE(stream.size() >= 4 + size);
        const std::string_view event = stream.substr(4, size);
        events.push_back({field(event, 1), ProtobufBody(field(field(event, 2), 1))});
        stream.remove_prefix(4 + size);
    }
    return events;
}

inline std::vector<std::string> summaries(std::string_view stream) {
    std::vector<std::string> all;
    for (const ProtobufEvent& event : protobuf_events(stream)) all.push_back(event.summary());
    return all;
}

}  // namespace k8s_sd::test
