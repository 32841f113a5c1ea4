#pragma once

#include "k8s_sd/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What the body of a response holds.
enum class Document : std::uint8_t {
    list,   ///< one document: the list
    watch,  ///< a stream of documents: the events
};

/// What a list says besides its items.
struct ListHead {
    std::string kind;  ///< e.g. "PodList"; may be empty
    std::string resource_version, continue_token;
    /// False: the document has no place for items, so it is hardly a list.
    bool has_items = false;
    std::string shard_selector{};  ///< of shardInfo; empty: the server says nothing of shards
};

/// What is wrong with one object, in words; an empty text: nothing.
struct ObjectProblem {
    std::string_view text;
    bool too_large = false;
};

/// Where a Decoder reports. The object itself is in the Scratch until the call returns.
class DocumentSink {
 public:
    /// \param list_kind  what the list calls itself; empty: it has not said so yet
    /// \returns what ends the list, if it shall end
    virtual error_code on_item(std::string_view list_kind, const ObjectProblem&) = 0;
    /// The object of an ERROR event is a Status, see ObjectMeta::status.
    /// \param type  as the server calls it; empty if the document has none
    /// \returns what ends the stream, if it shall end
    virtual error_code on_event(std::string_view type, const ObjectProblem&) = 0;

 protected:
    ~DocumentSink() = default;
};

/// The syntax of one encoding: turns bytes, in whatever pieces they come, into the models of
/// objects, one at a time. Knows nothing of what lists and events mean, see ListWatchReader. A
/// decoder is made with the Scratch it fills and the DocumentSink it reports to.
class Decoder {
 public:
    virtual ~Decoder() = default;
    /// A body begins; what is left of the one before is forgotten.
    virtual void begin(Document) = 0;
    /// \returns errc::malformed_response for bytes that are not of this encoding, or what the
    /// sink wants the stream to end with. The body is not to be fed any further then.
    virtual error_code feed(std::string_view bytes) = 0;
    /// At the end of the body. \returns errc::truncated_response in the middle of a document.
    virtual error_code finish() = 0;
    /// Gives back, cleansed, the memory for decoding. What was begun is lost.
    virtual void release() = 0;
    /// Of a list, once finish() has succeeded. Before, while an item is reported, it has the
    /// version if that came before the items.
    virtual const ListHead& list() const noexcept = 0;
    /// What the last error code means, in words; empty if it was the sink's.
    virtual const std::string& problem() const noexcept = 0;
};

}  // namespace k8s_sd::inline v0::detail
