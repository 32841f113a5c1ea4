#pragma once

#include "k8s_sd/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The type of a response body.
enum class Document : std::uint8_t {
    list,   ///< one document: the list
    watch,  ///< a stream of documents: the events
};

/// The members of a list besides its items.
struct ListHead {
    std::string kind;  ///< e.g. "PodList"; may be empty
    std::string resource_version, continue_token;
    /// False: the document has no items field, so it is hardly a list.
    bool has_items = false;
    std::string shard_selector{};  ///< of shardInfo; empty: the server sent none
};

/// A problem with one object, in words; no problem if the text is empty.
struct ObjectProblem {
    std::string_view text;
    bool too_large = false;
};

/// Receives the objects of a Decoder. The object itself is in the Scratch until the call returns.
class DocumentSink {
 public:
    /// \param list_kind  the kind of the list; empty: not known yet
    /// \returns an error to end the list
    virtual error_code on_item(std::string_view list_kind, const ObjectProblem&) = 0;
    /// The object of an ERROR event is a Status, see ObjectMeta::status.
    /// \param type  as sent by the server; empty if the document has none
    /// \returns an error to end the stream
    virtual error_code on_event(std::string_view type, const ObjectProblem&) = 0;

 protected:
    ~DocumentSink() = default;
};

/// The syntax of one encoding: decodes bytes, in chunks of any size, into the models of objects,
/// one at a time. ListWatchReader implements the semantics of lists and events. A decoder is bound
/// to the Scratch it fills and to its DocumentSink.
class Decoder {
 public:
    virtual ~Decoder() = default;
    /// Starts a body and discards the rest of the previous one.
    virtual void begin(Document) = 0;
    /// \returns errc::malformed_response for bytes in another encoding, or the error returned by
    /// the sink. The body must not be fed any further then.
    virtual error_code feed(std::string_view bytes) = 0;
    /// At the end of the body. \returns errc::truncated_response in the middle of a document.
    virtual error_code finish() = 0;
    /// Wipes and frees the memory for decoding. A document in progress is lost.
    virtual void release() = 0;
    /// Whether it waits for the next event of a watch and knows nothing about the body: another
    /// decoder could go on.
    virtual bool is_idle() const noexcept { return false; }
    /// The list head, complete once finish() has succeeded. While an item is reported, it contains
    /// the version if that precedes the items.
    virtual const ListHead& list() const noexcept = 0;
    /// Whether an object of the body so far had managedFields.
    virtual bool has_managed_fields() const noexcept { return false; }
    /// The last error code in words; empty if the sink returned it.
    virtual const std::string& problem() const noexcept = 0;
};

}  // namespace k8s_sd::inline v0::detail
