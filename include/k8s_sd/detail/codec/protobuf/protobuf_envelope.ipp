#include "k8s_sd/detail/codec/protobuf/protobuf_envelope.hpp"

#include <protozero/exception.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>
#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

/// A message of few fields; one of them is large and may be truncated.
class SmallMessage {
 public:
    explicit SmallMessage(std::string_view message, bool cut = false) : rest_(message), cut_(cut) {}

    /// The bytes of the next field with bytes; number() returns its number then. Throws a
    /// protozero::exception for a malformed message.
    std::optional<std::string_view> next() {
        while (!rest_.empty()) {
            const std::uint64_t tag = varint();
            number_ = tag >> 3U;
            switch (static_cast<protozero::pbf_wire_type>(tag & 7U)) {
                case protozero::pbf_wire_type::varint: varint(); break;
                case protozero::pbf_wire_type::fixed64: bytes(8); break;
                case protozero::pbf_wire_type::fixed32: bytes(4); break;
                case protozero::pbf_wire_type::length_delimited: return bytes(varint());
                default: throw protozero::unknown_pbf_wire_type_exception();
            }
        }
        return std::nullopt;
    }
    std::uint64_t number() const noexcept { return number_; }
    /// The current field is complete.
    bool whole() const noexcept { return whole_; }

 private:
    std::uint64_t varint() {
        const char* at = rest_.data();
        const std::uint64_t value = protozero::decode_varint(&at, rest_.data() + rest_.size());
        rest_.remove_prefix(static_cast<std::size_t>(at - rest_.data()));
        return value;
    }
    std::string_view bytes(std::uint64_t size) {
        if (size > rest_.size() && !cut_) throw protozero::end_of_buffer_exception();
        whole_ = size <= rest_.size();
        const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(size, rest_.size()));
        const std::string_view value = rest_.substr(0, there);
        rest_.remove_prefix(there);
        return value;
    }

    std::string_view rest_;
    bool cut_;
    std::uint64_t number_ = 0;
    bool whole_ = true;
};

/// Calls `take(number, bytes)` for each field with bytes. \returns false if it is not a message
template <class Take>
bool read_fields(std::string_view bytes, bool cut, const Take& take) {
    SmallMessage message(bytes, cut);
    try {
        while (const auto value = message.next()) take(message.number(), *value);
    } catch (const protozero::exception&) {
        return cut;
    }
    return true;
}

bool read_into(ProtobufEnvelope& envelope, std::string_view document, bool cut) {
    if (!document.starts_with(protobuf_magic)) return false;
    bool kind_is_good = true;
    const auto take = [&](std::uint64_t number, std::string_view bytes) {
        if (number == static_cast<std::uint64_t>(EnvelopeField::object)) envelope.object = bytes;
        if (number != static_cast<std::uint64_t>(EnvelopeField::type_meta)) return;
        const auto kind = read_kind(bytes);
        kind_is_good = kind.has_value();
        if (kind) envelope.kind = *kind;
    };
    return read_fields(document.substr(protobuf_magic.size()), cut, take) && kind_is_good;
}

/// The text in a field; "" if it is absent, nullopt if the message is malformed.
std::optional<std::string_view> read_text(std::string_view message, std::uint64_t field) {
    std::string_view text;
    const auto take = [&](std::uint64_t number, std::string_view bytes) {
        if (number == field) text = bytes;
    };
    if (!read_fields(message, false, take)) return std::nullopt;
    return text;
}

}  // namespace

std::optional<std::string_view> read_kind(std::string_view type_meta) {
    return read_text(type_meta, 2);
}

std::optional<ProtobufListMeta> read_list_meta(std::string_view message) {
    ProtobufListMeta meta;
    const auto take = [&](std::uint64_t number, std::string_view bytes) {
        if (number == 2) meta.resource_version = bytes;
        if (number == 3) meta.continue_token = bytes;
        // In the metadata of an object, field 5 is the uid; read_texts_of_metadata() reads that.
        if (number == 5) meta.shard_selector = read_text(bytes, 1).value_or("");
    };
    if (!read_fields(message, false, take)) return std::nullopt;
    return meta;
}

std::optional<ProtobufEnvelope> read_envelope(std::string_view document) {
    ProtobufEnvelope envelope;
    if (!read_into(envelope, document, false)) return std::nullopt;
    return envelope;
}

void read_texts_of_metadata(std::string_view object,
                            const std::function<void(std::uint64_t, std::string_view)>& take) {
    constexpr std::uint64_t metadata_field = 1;  // of every kind
    try {
        SmallMessage around(object, true);
        std::optional<std::string_view> bytes = around.next();
        while (bytes && around.number() != metadata_field) bytes = around.next();
        if (!bytes) return;
        SmallMessage metadata(*bytes, true);
        while (const auto text = metadata.next()) {
            if (metadata.whole()) take(metadata.number(), *text);
        }
    } catch (const protozero::exception&) {
        // The texts before the error were reported.
    }
}

ProtobufEvent read_event(std::string_view message, bool cut) {
    ProtobufEvent event;
    bool object_is_good = false;
    const auto take_raw = [&](std::uint64_t number, std::string_view document) {
        if (number == 1) object_is_good = read_into(event.envelope, document, cut);
    };
    const auto take = [&](std::uint64_t number, std::string_view bytes) {
        if (number == 1) event.type = bytes;
        if (number == 2) object_is_good = read_fields(bytes, cut, take_raw) && object_is_good;
    };
    event.well_formed = read_fields(message, cut, take) && object_is_good;
    return event;
}

}  // namespace k8s_sd::inline v0::detail
