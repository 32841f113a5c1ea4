#include "sim/protobuf/encode.hpp"

#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/detail/text/rfc3339.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <protozero/pbf_writer.hpp>
#include <cstdint>
#include <map>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

using protozero::pbf_writer;

constexpr std::string_view magic("k8s\0", 4);

/// Strings and bytes have the same encoding.
void add_text(pbf_writer& out, std::uint32_t number, std::string_view text) {
    out.add_string(number, text.data(), text.size());
}

/// Writes a message with `fill(writer)`, even if it stays empty: protozero's own nested writer
/// omits empty messages.
template <class Fill>
void add_message(pbf_writer& out, std::uint32_t number, Fill fill) {
    std::string bytes;
    pbf_writer writer(bytes);
    fill(writer);
    add_text(out, number, bytes);
}

std::string_view text_of(const json::value& value) {
    return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

std::int64_t integer_of(const json::value& value) {
    boost::system::error_code ec;
    const auto number = value.to_number<std::int64_t>(ec);
    return ec ? 0 : number;
}

const json::object& object_of(const json::value& value) {
    static const json::object empty;
    return value.is_object() ? value.get_object() : empty;
}

void add_fields(pbf_writer&, Message, const json::object&);

/// The fraction of a second in a time of RFC 3339.
std::int32_t nanoseconds(std::string_view time) {
    const std::size_t point = time.find('.');
    std::int32_t result = 0;
    if (point == time.npos) return result;
    time.remove_prefix(point + 1);
    for (std::int32_t unit = 100'000'000; unit > 0 && !time.empty(); unit /= 10) {
        if (!detail::is_digit(time.front())) break;
        result += (time.front() - '0') * unit;
        time.remove_prefix(1);
    }
    return result;
}

/// The zero time is an empty message.
void add_time(pbf_writer& out, std::uint32_t number, const json::value& value) {
    add_message(out, number, [&](pbf_writer& time) {
        const auto seconds = detail::read_rfc3339(text_of(value));
        if (!seconds) return;
        time.add_int64(1, seconds->time_since_epoch().count());
        time.add_int32(2, nanoseconds(text_of(value)));
    });
}

void add_quantity(pbf_writer& out, std::uint32_t number, const json::value& value) {
    add_message(out, number, [&](pbf_writer& quantity) {
        if (value.is_number()) {
            add_text(quantity, 1, json::serialize(value));
        } else {
            add_text(quantity, 1, value.is_null() ? "0" : text_of(value));
        }
    });
}

void add_int_or_string(pbf_writer& out, std::uint32_t number, const json::value& value) {
    add_message(out, number, [&](pbf_writer& either) {
        either.add_int64(1, value.is_string() ? 1 : 0);
        either.add_int32(2, static_cast<std::int32_t>(integer_of(value)));
        add_text(either, 3, text_of(value));
    });
}

/// Writes one value; null: the type's zero.
void add_value(pbf_writer& out, std::uint32_t number, const Field& field,
               const json::value& value) {
    switch (field.kind) {
        case FieldKind::text: add_text(out, number, text_of(value)); break;
        case FieldKind::bytes:
            out.add_bytes(number, detail::decode_base64(text_of(value)).value_or(""));
            break;
        case FieldKind::integer: out.add_int64(number, integer_of(value)); break;
        case FieldKind::boolean: out.add_bool(number, value.is_bool() && value.get_bool()); break;
        case FieldKind::message:
            add_message(out, number, [&](pbf_writer& message) {
                add_fields(message, field.message, object_of(value));
            });
            break;
        case FieldKind::time: add_time(out, number, value); break;
        case FieldKind::quantity: add_quantity(out, number, value); break;
        case FieldKind::int_or_string: add_int_or_string(out, number, value); break;
        case FieldKind::json:
            add_message(out, number,
                        [&](pbf_writer& raw) { add_text(raw, 1, json::serialize(value)); });
            break;
    }
}

void add_list(pbf_writer& out, const Field& field, const json::value& value) {
    if (!value.is_array()) return;
    for (const json::value& element : value.get_array()) {
        add_value(out, field.number, field, element);
    }
}

void add_map(pbf_writer& out, const Field& field, const json::value& value) {
    std::map<std::string_view, const json::value*> sorted;
    for (const auto& [key, element] : object_of(value)) sorted.emplace(key, &element);
    for (const auto& entry : sorted) {
        add_message(out, field.number, [&](pbf_writer& pair) {
            add_text(pair, 1, entry.first);
            add_value(pair, 2, field, *entry.second);
        });
    }
}

void add_fields(pbf_writer& out, Message message, const json::object& object) {
    static const json::value missing;
    for (const Field& field : message) {
        const json::value* found = object.if_contains(field.name);
        const json::value& value = found ? *found : missing;
        switch (field.presence) {
            case Presence::always: add_value(out, field.number, field, value); break;
            case Presence::when_set:
                if (!value.is_null()) add_value(out, field.number, field, value);
                break;
            case Presence::list: add_list(out, field, value); break;
            case Presence::map: add_map(out, field, value); break;
            case Presence::inlined:
                add_message(out, field.number,
                            [&](pbf_writer& part) { add_fields(part, field.message, object); });
                break;
        }
    }
}

}  // namespace

std::string encode_protobuf(Message message, const json::object& object) {
    std::string out;
    pbf_writer writer(out);
    add_fields(writer, message, object);
    return out;
}

ListMessage::ListMessage(std::string_view metadata) {
    pbf_writer writer(bytes_);
    add_text(writer, 1, metadata);
}

void ListMessage::add(std::string_view item) {
    pbf_writer writer(bytes_);
    add_text(writer, 2, item);
}

std::string protobuf_body(std::string_view api_version, std::string_view kind,
                          std::string_view message) {
    std::string out(magic);
    out.reserve(message.size() + api_version.size() + kind.size() + 32);
    pbf_writer unknown(out);
    add_message(unknown, 1, [&](pbf_writer& type_meta) {
        add_text(type_meta, 1, api_version);
        add_text(type_meta, 2, kind);
    });
    add_text(unknown, 2, message);
    unknown.add_string(3, "");  // contentEncoding
    unknown.add_string(4, "");  // contentType
    return out;
}

void append_protobuf_frame(std::string& out, std::string_view event, std::string_view body) {
    std::string payload;
    pbf_writer watch_event(payload);
    add_text(watch_event, 1, event);
    add_message(watch_event, 2,
                [&](pbf_writer& raw_extension) { add_text(raw_extension, 1, body); });
    const auto size = static_cast<std::uint32_t>(payload.size());
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
    out += payload;
}

}  // namespace k8s_sd::inline v0::sim
