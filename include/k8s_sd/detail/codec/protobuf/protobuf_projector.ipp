#include "k8s_sd/detail/codec/protobuf/protobuf_projector.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Reads a message field by field. Nearly all tags and lengths have one byte, and are read here;
/// protozero reads the others. Throws exceptions of protozero for what is not protobuf.
class ProtobufProjector::Reader {
 public:
    using WireType = protozero::pbf_wire_type;

    explicit Reader(std::string_view message) noexcept
        : next_(message.data()), end_(message.data() + message.size()) {}

    /// Reads the tag of the next field; its value must be read or skipped then.
    /// \returns false at the end of the message
    bool next() {
        if (next_ == end_) return false;
        const auto tag = static_cast<std::uint32_t>(integer());
        number_ = tag >> 3U;
        type_ = static_cast<WireType>(tag & 7U);
        const bool reserved = number_ >= 19'000 && number_ <= 19'999;
        if (number_ == 0 || reserved) throw protozero::invalid_tag_exception();
        return true;
    }
    std::uint32_t number() const noexcept { return number_; }
    bool is(WireType type) const noexcept { return type_ == type; }

    std::uint64_t integer() {
        if (next_ != end_ && static_cast<unsigned char>(*next_) < 0x80) {
            return static_cast<unsigned char>(*next_++);
        }
        return protozero::decode_varint(&next_, end_);
    }
    std::string_view view() {
        const std::uint64_t size = integer();
        return {advance(size), static_cast<std::size_t>(size)};
    }
    void skip() {
        switch (type_) {
            case WireType::varint: return protozero::skip_varint(&next_, end_);
            case WireType::length_delimited: advance(integer()); return;
            case WireType::fixed64: advance(8); return;
            case WireType::fixed32: advance(4); return;
            default: throw protozero::unknown_pbf_wire_type_exception();
        }
    }

 private:
    /// \returns where it was
    const char* advance(std::uint64_t size) {
        if (size > static_cast<std::uint64_t>(end_ - next_))
            throw protozero::end_of_buffer_exception();
        return std::exchange(next_, next_ + size);
    }

    const char* next_;
    const char* const end_;
    std::uint32_t number_ = 0;
    WireType type_ = WireType::unknown;
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
            const Projection* const member = frame.node.member_in(reader.number());
            member != nullptr ? read_value(frame, *member, context, reader) : reader.skip();
        }
    } catch (const protozero::exception& error) {
        note_problem(frame, nullptr, std::string("not protobuf: ") + error.what());
    }
}

void ProtobufProjector::read_value(const Frame& frame, const Projection& member, void* context,
                                   Reader& reader) {
    using Type = Projection::Type;
    if (!reader.is(wire_type_of(member))) {
        reader.skip();
        return note_problem(frame, &member, "a field of another type");
    }
    switch (member.type) {
        case Type::object:
            return read_message({member, &frame, &member}, member.begin(context), reader.view());
        case Type::array: return read_element(frame, member, context, reader.view());
        case Type::map: return read_pair(frame, member, context, reader.view());
        case Type::text: return member.set_text(context, keep(reader.view()));
        case Type::number:
            return read_number(frame, member, context, static_cast<std::int64_t>(reader.integer()));
        case Type::boolean: return member.set_boolean(context, reader.integer() != 0);
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
        const bool is_text = reader.is(WireType::length_delimited);
        if (is_text && reader.number() == 1) {
            key = reader.view();
        } else if (is_text && reader.number() == 2) {
            value = reader.view();
        } else {
            if (reader.number() <= 2) note_problem(frame, &member, "a field of another type");
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
