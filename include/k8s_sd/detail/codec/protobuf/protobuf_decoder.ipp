#include "k8s_sd/detail/codec/protobuf/protobuf_decoder.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t frame_head_bytes = 4;
/// Upper bound of an event's envelope; far more than it takes.
constexpr std::size_t envelope_bytes = 4 * 1024;
/// Real ones have less than 100 bytes.
constexpr std::size_t max_type_meta_size = 4 * 1024;
/// The continue token is its longest text.
constexpr std::size_t max_list_meta_size = 256 * 1024;
/// Plain text in place of an event begins with bytes that mean a greater length.
constexpr std::uint64_t max_frame_size = std::uint64_t{128} << 20;
constexpr std::uint64_t max_list_size = std::uint64_t{1} << 62;

constexpr bool is(std::uint64_t number, EnvelopeField field) noexcept {
    return number == static_cast<std::uint64_t>(field);
}
constexpr bool is(std::uint64_t number, ListField field) noexcept {
    return number == static_cast<std::uint64_t>(field);
}

std::uint64_t big_endian(std::string_view bytes) noexcept {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8U | static_cast<unsigned char>(byte);
    return value;
}

}  // namespace

ProtobufDecoder::ProtobufDecoder(const ProtobufSchema& schema, Scratch& scratch,
                                 std::size_t max_object_bytes, DocumentSink& sink)
    : schema_(schema),
      scratch_(scratch),
      sink_(sink),
      max_object_bytes_(max_object_bytes),
      too_large_("the object is larger than " + std::to_string(max_object_bytes) + " bytes"),
      projector_(arena_, max_object_bytes) {}

void ProtobufDecoder::begin(Document document) {
    document_ = document;
    offset_ = integer_ = integer_bits_ = 0;
    in_list_ = has_list_ = has_items_ = false;
    head_ = {};
    problem_.clear();
    projector_.forget_presence();
    forget_object();
    if (document == Document::watch) return next_frame();
    step_ = Step::magic;
    payload_.expect(protobuf_magic.size(), protobuf_magic.size());
}

void ProtobufDecoder::release() {
    arena_.release();
    payload_.release();
}

error_code ProtobufDecoder::feed(std::string_view bytes) {
    while (!bytes.empty()) {
        if (const error_code ec = read(bytes)) return ec;
    }
    // Free the memory between events: a watch is idle most of the time.
    if (is_idle()) release();
    return {};
}

error_code ProtobufDecoder::finish() {
    const bool between_events = is_idle();
    release();
    if (document_ == Document::list) return finish_list();
    if (between_events) return {};
    problem_ = "the stream ended in an event";
    return errc::truncated_response;
}

error_code ProtobufDecoder::finish_list() {
    if (step_ != Step::tag || integer_bits_ != 0 || in_list_) {
        problem_ = "the body ended in the list";
        return errc::truncated_response;
    }
    // An empty list has no item fields; its kind identifies it as a list.
    head_.has_items = has_list_ && (has_items_ || !head_.kind.empty());
    return {};
}

error_code ProtobufDecoder::malformed(std::string why) {
    problem_ = std::move(why);
    return errc::malformed_response;
}

// --- bytes --------------------------------------------------------------------------------------

error_code ProtobufDecoder::read(std::string_view& bytes) {
    switch (step_) {
        case Step::tag:
        case Step::length:
        case Step::integer: return take_integer(bytes) ? on_integer() : error_code();
        case Step::skipped: {
            const std::uint64_t size = std::min<std::uint64_t>(skipped_, bytes.size());
            bytes.remove_prefix(static_cast<std::size_t>(size));
            offset_ += size;
            skipped_ -= size;
            if (skipped_ == 0) next_field();
            return {};
        }
        case Step::magic: return take_payload(bytes) ? on_magic(payload_.view()) : error_code();
        case Step::field: return take_payload(bytes) ? on_field(payload_.view()) : error_code();
        case Step::frame:
            return take_payload(bytes) ? on_frame_head(payload_.view()) : error_code();
        case Step::event: return take_payload(bytes) ? on_event(payload_.view()) : error_code();
    }
    return {};
}

/// Seven bits a byte, as long as the eighth announces another byte. on_integer() refuses integers
/// of too many bits.
bool ProtobufDecoder::take_integer(std::string_view& bytes) {
    while (!bytes.empty()) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        ++offset_;
        if (integer_bits_ < 64) integer_ |= std::uint64_t{byte & 0x7fU} << integer_bits_;
        integer_bits_ += 7;
        if (byte < 0x80 || integer_bits_ > 70) return true;
    }
    return false;
}

bool ProtobufDecoder::take_payload(std::string_view& bytes) {
    const std::size_t before = bytes.size();
    const bool complete = payload_.take(bytes);
    offset_ += before - bytes.size();
    return complete;
}

/// The envelope continues after the end of the list.
void ProtobufDecoder::next_field() {
    step_ = Step::tag;
    if (in_list_ && offset_ == list_end_) in_list_ = false;
}

void ProtobufDecoder::next_frame() {
    step_ = Step::frame;
    payload_.expect(frame_head_bytes, frame_head_bytes);
}

error_code ProtobufDecoder::skip(std::uint64_t size) {
    step_ = Step::skipped;
    skipped_ = size;
    if (size == 0) next_field();
    return {};
}

error_code ProtobufDecoder::expect(std::uint64_t size, std::size_t max_size) {
    step_ = Step::field;
    payload_.expect(size, max_size);
    return size == 0 ? on_field({}) : error_code();
}

// --- lists --------------------------------------------------------------------------------------

error_code ProtobufDecoder::on_magic(std::string_view magic) {
    if (magic != protobuf_magic) return malformed("the body is not Kubernetes' protobuf");
    next_field();
    return {};
}

error_code ProtobufDecoder::on_integer() {
    if (integer_bits_ > 70) return malformed("the list is not protobuf: an endless integer");
    if (in_list_ && offset_ > list_end_)
        return malformed("the list is not protobuf: a field extends beyond it");
    integer_bits_ = 0;
    if (step_ == Step::tag) return on_tag();
    if (step_ == Step::length) return on_length();
    integer_ = 0;
    next_field();
    return {};
}

error_code ProtobufDecoder::on_tag() {
    const std::uint64_t type = integer_ & 7U;
    field_ = std::exchange(integer_, 0) >> 3U;
    if (field_ == 0) return malformed("the list is not protobuf: a field without a number");
    switch (type) {
        case 0: step_ = Step::integer; return {};
        case 1: integer_ = 8; break;
        case 2: step_ = Step::length; return {};
        case 5: integer_ = 4; break;
        default: return malformed("the list is not protobuf: a field of an unknown type");
    }
    field_ = 0;  // an unwanted field
    return on_length();
}

error_code ProtobufDecoder::on_length() {
    if (in_list_ && integer_ > list_end_ - offset_)
        return malformed("the list is not protobuf: a field is longer than the list");
    return in_list_ ? begin_list_field() : begin_envelope_field();
}

error_code ProtobufDecoder::begin_envelope_field() {
    const std::uint64_t size = std::exchange(integer_, 0);
    if (is(field_, EnvelopeField::object)) {
        if (std::exchange(has_list_, true)) return malformed("the body holds two lists");
        if (size > max_list_size) return malformed("the list is not protobuf: it has no end");
        in_list_ = true;
        list_end_ = offset_ + size;
        next_field();
        return {};
    }
    if (!is(field_, EnvelopeField::type_meta)) return skip(size);
    if (size > max_type_meta_size) return malformed("the name of the list's kind is too long");
    return expect(size, max_type_meta_size);
}

error_code ProtobufDecoder::begin_list_field() {
    const std::uint64_t size = std::exchange(integer_, 0);
    if (is(field_, ListField::item)) return expect(size, max_object_bytes_);
    if (!is(field_, ListField::metadata)) return skip(size);
    if (size > max_list_meta_size) return malformed("the list's metadata is too long");
    return expect(size, max_list_meta_size);
}

error_code ProtobufDecoder::on_field(std::string_view bytes) {
    const error_code ec = !in_list_                         ? on_type_meta(bytes)
                          : is(field_, ListField::metadata) ? on_list_meta(bytes)
                                                            : on_item(bytes);
    if (!ec) next_field();
    return ec;
}

error_code ProtobufDecoder::on_type_meta(std::string_view bytes) {
    const auto kind = read_kind(bytes);
    if (!kind) return malformed("the list's kind is not protobuf");
    head_.kind = *kind;
    return {};
}

error_code ProtobufDecoder::on_list_meta(std::string_view bytes) {
    const auto meta = read_list_meta(bytes);
    if (!meta) return malformed("the list's metadata is not protobuf");
    head_.resource_version = meta->resource_version;
    head_.continue_token = meta->continue_token;
    head_.shard_selector = meta->shard_selector;
    return {};
}

error_code ProtobufDecoder::on_item(std::string_view object) {
    has_items_ = true;
    projector_.read(schema_.object, scratch_.model(), object);
    if (problem_of_object().too_large) read_identity(object);
    const error_code ec = sink_.on_item(head_.kind, problem_of_object());
    forget_object();
    return ec;
}

// --- events -------------------------------------------------------------------------------------

error_code ProtobufDecoder::on_frame_head(std::string_view bytes) {
    const std::uint64_t size = big_endian(bytes);
    if (size == 0 || size > max_frame_size) {
        return malformed("the body is not a stream of events in protobuf: the length of one is " +
                         std::to_string(size));
    }
    step_ = Step::event;
    payload_.expect(size, max_object_bytes_ + envelope_bytes);
    return {};
}

error_code ProtobufDecoder::on_event(std::string_view bytes) {
    const ProtobufEvent event = read_event(bytes, payload_.cut());
    if (event.type.empty()) return malformed("the documents in the body are not events");
    // The kind decides how to read the object, so it must be known first.
    const bool is_status = event.envelope.kind == "Status";
    projector_.read(is_status ? schema_.status : schema_.object, scratch_.model(),
                    event.envelope.object);
    schema_.set_kind(scratch_.model(), event.envelope.kind);
    if (!is_status && problem_of_object().too_large) read_identity(event.envelope.object);
    const ObjectProblem problem = event.well_formed
                                      ? problem_of_object()
                                      : ObjectProblem{"the object is not Kubernetes' protobuf"};
    const error_code ec = sink_.on_event(event.type, problem);
    forget_object();
    if (!ec) next_frame();
    return ec;
}

ObjectProblem ProtobufDecoder::problem_of_object() const {
    if (payload_.cut()) return {too_large_, true};
    return {projector_.problem(), projector_.too_large()};
}

/// The identifying texts precede all potentially large members.
void ProtobufDecoder::read_identity(std::string_view object) {
    const Projection& metadata = *schema_.object.member("metadata");
    void* const aggregate = metadata.begin(schema_.object.begin(scratch_.model()));
    read_texts_of_metadata(object, [&](std::uint64_t number, std::string_view text) {
        const bool known = number <= std::numeric_limits<std::uint32_t>::max();
        const Projection* node =
            known ? metadata.member_in(static_cast<std::uint32_t>(number)) : nullptr;
        if (node && node->identity && is_utf8(text)) node->set_text(aggregate, text);
    });
}

void ProtobufDecoder::forget_object() {
    scratch_.clear();
    arena_.reset();
    payload_.clear();
}

}  // namespace k8s_sd::inline v0::detail
