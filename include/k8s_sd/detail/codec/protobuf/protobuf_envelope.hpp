#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

/// Kubernetes' envelope around an object in protobuf.
namespace k8s_sd::inline v0::detail {

/// The start of every document, and of every object in an event.
inline constexpr std::string_view protobuf_magic("k8s\0", 4);

/// A runtime.Unknown: an object with its kind. The views refer to the bytes read.
struct ProtobufEnvelope {
    std::string_view kind;
    std::string_view object;
};

/// A meta.v1.WatchEvent.
struct ProtobufEvent {
    std::string_view type;
    ProtobufEnvelope envelope;
    /// The envelope around the object is valid.
    bool well_formed = false;
};

/// The fields of every document.
enum class EnvelopeField : std::uint32_t { type_meta = 1, object = 2 };
enum class ListField : std::uint32_t { metadata = 1, item = 2 };

/// A list's metadata.
struct ProtobufListMeta {
    std::string_view resource_version, continue_token, shard_selector;
};

/// The name of the kind in a runtime.TypeMeta; nullopt if it is malformed.
std::optional<std::string_view> read_kind(std::string_view type_meta);
/// nullopt if it is malformed.
std::optional<ProtobufListMeta> read_list_meta(std::string_view message);
/// A document: magic and envelope. nullopt if it is malformed.
std::optional<ProtobufEnvelope> read_envelope(std::string_view document);
/// The texts in the metadata of an object, possibly truncated: calls the function with the number
/// and the bytes of each complete text.
void read_texts_of_metadata(std::string_view object,
                            const std::function<void(std::uint64_t, std::string_view)>& take);
/// \param cut  the event is truncated, and so is its object
ProtobufEvent read_event(std::string_view message, bool cut);

}  // namespace k8s_sd::inline v0::detail
