#pragma once

#include "k8s_sd/detail/codec/decoder.hpp"
#include "k8s_sd/detail/codec/json/json_parser.hpp"
#include "k8s_sd/detail/codec/json/json_projector.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/detail/text/json_text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Decodes JSON: a list, or consecutive events of a watch.
class JsonDecoder final : public Decoder, private RecordSink {
 public:
    JsonDecoder(const JsonSchema& schema, Scratch& scratch, std::size_t max_object_bytes,
                DocumentSink& sink);
    ~JsonDecoder() override;

    void begin(Document) override;
    error_code feed(std::string_view bytes) override;
    error_code finish() override;
    void release() override;
    bool is_idle() const noexcept override {
        return document_ == Document::watch && !in_event_ && !mark_.at_start() &&
               !filters_surrogates_;
    }
    const ListHead& list() const noexcept override { return head_; }
    bool has_managed_fields() const noexcept override { return has_managed_fields_; }
    const std::string& problem() const noexcept override { return problem_; }

 private:
    void begin_list();
    void begin_event();
    void start(const Projection& root, void* aggregate, const Projection* records);
    error_code feed_text(std::string_view bytes);
    error_code feed_parser(std::string_view bytes);
    error_code feed_list(std::string_view bytes);
    error_code feed_watch(std::string_view bytes);
    error_code finish_list();
    error_code fail(errc what, std::string why);
    error_code not_json(std::string_view what);
    void on_record() override;
    void on_oversized(const Projection& node, void* object, std::string_view part) override;

    class OversizedObject;

    const JsonSchema& schema_;
    Scratch& scratch_;
    DocumentSink& sink_;
    TextArena arena_;
    JsonList list_;
    JsonEvent event_;
    ListHead head_;
    JsonParser<JsonProjector> parser_;
    std::unique_ptr<OversizedObject> oversized_;  // null: the object is within the limit
    ByteOrderMarkFilter mark_;
    SurrogateFilter surrogates_;
    bool filters_surrogates_ = false;  // only after a parse error, because the filter is slow
    Document document_ = Document::list;
    bool in_event_ = false;
    bool has_managed_fields_ = false;
    error_code refused_;  // error returned by the sink
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
