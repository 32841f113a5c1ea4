#pragma once

#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/codec/decoder.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The decoder for a content type (in lower case, without parameters); null if there is none. A
/// body without a type is read as JSON; the parser detects anything else.
std::unique_ptr<Decoder> make_decoder(std::string_view content_type, const KindSchema& schema,
                                      Scratch& scratch, std::size_t max_object_bytes,
                                      DocumentSink& sink);

using MakeDecoder = decltype(&make_decoder);

/// Interprets lists and events independently of their encoding: types of events, bookmarks, errors,
/// versions, and unusable objects. Reads one response body after the other; each object goes to the
/// sink once it is complete, and is not stored here.
class ListWatchReader final : private DocumentSink {
 public:
    ListWatchReader(const KindSchema& schema, std::size_t max_object_bytes, EventSink& sink,
                    MakeDecoder make = make_decoder);

    /// Called before each request. Discards the rest of the previous response.
    /// \param of_one_object  there may be many such watches: no decoder between events
    void expect(Document, bool of_one_object = false);
    /// Called with the response head, before the body.
    /// \returns false if there is no decoder for the type; the body cannot be read then
    bool choose_decoder(std::string_view content_type);

    /// \returns errc::malformed_response if the bytes are neither a list nor events
    error_code feed(std::string_view bytes);
    /// At the end of the body. \returns errc::truncated_response in the middle of a document.
    error_code finish();
    /// Wipes and frees the memory for decoding. A document in progress is lost.
    void release() {
        if (decoder_) decoder_->release();
    }

    /// Of the list, once finish() has succeeded; empty for a watch.
    std::string_view resource_version() const noexcept {
        return list_ ? std::string_view(list_->resource_version) : std::string_view();
    }
    /// The version of the list, only during the report of an item; empty if it is not known yet.
    const std::string& early_version() const noexcept { return decoder_->list().resource_version; }
    std::string_view continue_token() const noexcept {
        return list_ ? std::string_view(list_->continue_token) : std::string_view();
    }
    std::string_view shard_selector() const noexcept {
        return list_ ? std::string_view(list_->shard_selector) : std::string_view();
    }
    /// Whether an object of the body so far had managedFields.
    bool has_managed_fields() const noexcept {
        return managed_fields_ || (decoder_ && decoder_->has_managed_fields());
    }
    /// The last error code in words.
    const std::string& problem() const noexcept { return problem_.text(); }

 private:
    enum class Encoding : std::uint8_t { unknown, json, protobuf };

    static Encoding encoding_of(std::string_view content_type) noexcept;
    void make_decoder_again(std::string_view content_type);
    void drop_idle_decoder();
    error_code on_item(std::string_view list_kind, const ObjectProblem&) override;
    error_code on_event(std::string_view type, const ObjectProblem&) override;
    void report(EventType type, const ObjectProblem& problem);
    error_code report_deleted();
    void report_bookmark(const ObjectProblem& problem);
    void report_bad(const ObjectProblem& problem, std::string_view text, bool is_state = true);
    bool is_of_other_kind() const;
    std::string problem_of_object() const;
    std::string problem_of_version() const;
    error_code check_list();
    error_code fail_without_kind();
    error_code check_kind(std::string_view list_kind);
    bool is_list_kind(std::string_view) const noexcept;
    bool is_object_kind(std::string_view) const noexcept;
    error_code fail(error_code what, std::string_view why);

    const KindSchema& schema_;
    std::size_t max_object_bytes_;
    EventSink& sink_;
    MakeDecoder make_;
    std::unique_ptr<Scratch> scratch_;       // null without a decoder
    std::unique_ptr<Decoder> decoder_;       // null: not chosen, or dropped between events
    Encoding encoding_ = Encoding::unknown;  // of the decoder
    bool managed_fields_ = false;            // found by a previous decoder of this body
    Document document_ = Document::list;
    bool of_one_object_ = false;
    bool kind_is_certain_ = true;
    bool kind_is_owed_ = false;  // the list must still declare it: items came without a kind
    Rare<ListHead> list_;        // of a complete list
    RareText problem_;
};

}  // namespace k8s_sd::inline v0::detail
