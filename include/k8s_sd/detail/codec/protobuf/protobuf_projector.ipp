#include "k8s_sd/detail/codec/protobuf/protobuf_projector.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <limits>
#include <utility>

namespace k8s_sd::inline v0::detail {

class ProtobufProjector::Reader : public protozero::pbf_reader {
 public:
    explicit Reader(std::string_view message) : pbf_reader(message.data(), message.size()) {}
    std::string_view view() {
        const protozero::data_view bytes = get_view();
        return {bytes.data(), bytes.size()};
    }
};

namespace {

using WireType = protozero::pbf_wire_type;

WireType wire_type_of(const Projection& node) noexcept {
    using Type = Projection::Type;
    const bool is_integer = node.type == Type::number || node.type == Type::boolean;
    return is_integer ? WireType::varint : WireType::length_delimited;
}

/// The text in a message with a single field, such as a Quantity.
std::string_view unwrapped(std::string_view message) {
    std::string_view text;
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next(1, WireType::length_delimited)) {
        const protozero::data_view bytes = reader.get_view();
        text = {bytes.data(), bytes.size()};
    }
    return text;
}

}  // namespace

void ProtobufProjector::read(const Projection& root, void* aggregate, std::string_view message) {
    kept_ = 0;
    problem_.clear();
    too_large_ = false;
    read_message({root}, root.begin(aggregate), message);
}

void ProtobufProjector::read_message(const Frame& frame, void* context, std::string_view message) {
    Reader reader(message);
    try {
        while (reader.next()) {
            const Projection* const member = frame.node.member_in(reader.tag());
            member != nullptr ? read_value(frame, *member, context, reader) : reader.skip();
        }
    } catch (const protozero::exception& error) {
        note_problem(frame, nullptr, std::string("not protobuf: ") + error.what());
    }
}

void ProtobufProjector::read_value(const Frame& frame, const Projection& member, void* context,
                                   Reader& reader) {
    using Type = Projection::Type;
    if (reader.wire_type() != wire_type_of(member)) {
        reader.skip();
        return note_problem(frame, &member, "a field of another type");
    }
    switch (member.type) {
        case Type::object:
            return read_message({member, &frame, &member}, member.begin(context), reader.view());
        case Type::array: return read_element(frame, member, context, reader.view());
        case Type::map: return read_pair(frame, member, context, reader.view());
        case Type::text: return member.set_text(context, keep(reader.view()));
        case Type::number: return read_number(frame, member, context, reader.get_int64());
        case Type::boolean: return member.set_boolean(context, reader.get_uint64() != 0);
        case Type::raw: return reader.skip();  // exists only in JSON
        case Type::presence: has_presence_ = true; return reader.skip();
    }
}

void ProtobufProjector::read_element(const Frame& frame, const Projection& member, void* context,
                                     std::string_view bytes) {
    if (!count_element(member)) return;
    const Projection& element = member.element.front();
    if (element.type == Projection::Type::text) return element.set_text(context, keep(bytes));
    read_message({element, &frame, &member}, member.begin(context), bytes);
}

/// A map is a list of entries, each a message with a key and a value.
void ProtobufProjector::read_pair(const Frame& frame, const Projection& member, void* context,
                                  std::string_view entry) {
    std::string_view key;
    std::string_view value;
    Reader reader(entry);
    while (reader.next()) {
        const bool is_text = reader.wire_type() == WireType::length_delimited;
        if (is_text && reader.tag() == 1) {
            key = reader.view();
        } else if (is_text && reader.tag() == 2) {
            value = reader.view();
        } else {
            if (reader.tag() <= 2) note_problem(frame, &member, "a field of another type");
            reader.skip();
        }
    }
    if (!member.wants(key) || !count_element(member)) return;
    key = keep(key);
    if (member.wrapped) value = unwrapped(value);
    member.add_pair(context, key, member.base64 ? keep_bytes(value) : keep(value));
}

void ProtobufProjector::read_number(const Frame& frame, const Projection& member, void* context,
                                    std::int64_t value) {
    const bool fits = value >= std::numeric_limits<std::int32_t>::min() &&
                      value <= std::numeric_limits<std::int32_t>::max();
    if (!fits && !member.wide) return note_problem(frame, &member, "a number outside 32 bits");
    member.set_number(context, value);
}

std::string_view ProtobufProjector::keep(std::string_view text) {
    return is_utf8(text) ? keep_bytes(text) : mended_copy(text);
}

std::string_view ProtobufProjector::mended_copy(std::string_view text) {
    std::size_t size = 0;
    for_each_utf8_part(text, [&](std::string_view part) { size += part.size(); });
    if (!within_limit(size)) return {};
    char* const start = arena_.room(size);
    char* end = start;
    for_each_utf8_part(text, [&](std::string_view part) { end += part.copy(end, part.size()); });
    return {start, size};
}

void ProtobufProjector::note_too_large() {
    too_large_ = true;
    if (problem_.empty())
        problem_ = "the object is larger than " + std::to_string(max_record_bytes_) + " bytes";
}

void ProtobufProjector::note_problem(const Frame& frame, const Projection* member,
                                     std::string text) {
    if (!problem_.empty()) return;
    const std::string where = path(frame, member);
    problem_ = (where.empty() ? "the object" : where) + ": " + std::move(text);
}

// "status.podIP": the names of the members down to the value.
std::string ProtobufProjector::path(const Frame& frame, const Projection* member) {
    std::string joined = frame.around != nullptr ? path(*frame.around, frame.via) : std::string();
    if (member != nullptr && !member->name.empty()) {
        if (!joined.empty()) joined += '.';
        joined += member->name;
    }
    return joined;
}

}  // namespace k8s_sd::inline v0::detail
