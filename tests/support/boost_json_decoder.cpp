#include "support/boost_json_decoder.hpp"

#include "k8s_sd/detail/codec/json/json_projector.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace k8s_sd::test {

using namespace detail;

namespace {

/// Forwards the events of Boost.JSON's parser to a JsonProjector.
struct Handler {
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    using ec = error_code;
    using sv = boost::json::string_view;

    template <class... Args>
    explicit Handler(Args&&... args) : projector(std::forward<Args>(args)...) {}

    bool on_document_begin(ec&) { return true; }
    bool on_document_end(ec&) { return forward(&JsonProjector::on_document_end); }
    bool on_object_begin(ec&) {
        if (begins_unwanted()) return true;
        return forward(&JsonProjector::on_object_begin);
    }
    bool on_object_end(std::size_t, ec&) {
        return ends_unwanted() || forward(&JsonProjector::on_object_end);
    }
    bool on_array_begin(ec&) {
        if (begins_unwanted()) return true;
        return forward(&JsonProjector::on_array_begin);
    }
    bool on_array_end(std::size_t, ec&) {
        return ends_unwanted() || forward(&JsonProjector::on_array_end);
    }
    bool on_key_part(sv part, std::size_t, ec&) {
        return unwanted > 0 || forward(&JsonProjector::on_key_part, part);
    }
    bool on_key(sv rest, std::size_t, ec&) {
        return unwanted > 0 || forward(&JsonProjector::on_key, rest);
    }
    bool on_string_part(sv part, std::size_t, ec&) {
        return unwanted > 0 || forward(&JsonProjector::on_string_part, part);
    }
    bool on_string(sv rest, std::size_t, ec&) {
        return unwanted > 0 || forward(&JsonProjector::on_string, rest);
    }
    bool on_number_part(sv, ec&) { return true; }
    bool on_int64(std::int64_t value, sv, ec&) {
        return unwanted > 0 || forward(&JsonProjector::on_integer, value);
    }
    bool on_uint64(std::uint64_t value, sv rest, ec& error) {
        constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
        return on_int64(static_cast<std::int64_t>(std::min(value, largest)), rest, error);
    }
    bool on_double(double, sv text, ec& error) {
        // An integer of more than 64 bits still counts as an integer.
        if (text.find_first_of(".eE") == sv::npos) {
            return on_int64(std::numeric_limits<std::int64_t>::max(), text, error);
        }
        return unwanted > 0 || forward(&JsonProjector::on_fraction);
    }
    bool on_bool(bool value, ec&) {
        return unwanted > 0 || forward(&JsonProjector::on_boolean, value);
    }
    bool on_null(ec&) { return unwanted > 0 || forward(&JsonProjector::on_null); }
    bool on_comment_part(sv, ec&) { return true; }
    bool on_comment(sv, ec&) { return true; }

    JsonProjector projector;
    std::size_t unwanted = 0;  // depth within values that the other parser skips

 private:
    template <class... Of, class... Args>
    bool forward(void (JsonProjector::*what)(Of...), Args... args) {
        (projector.*what)(args...);
        return true;
    }
    bool begins_unwanted() {
        if (unwanted == 0 && !projector.passes_over()) return false;
        ++unwanted;
        return true;
    }
    bool ends_unwanted() {
        if (unwanted == 0) return false;
        if (--unwanted == 0) projector.on_passed();
        return true;
    }
};

std::string_view without_leading_space(std::string_view bytes) {
    const std::size_t start = bytes.find_first_not_of(" \t\r\n");
    return start == std::string_view::npos ? std::string_view() : bytes.substr(start);
}

class BoostJsonDecoder final : public Decoder, private RecordSink {
 public:
    BoostJsonDecoder(const JsonSchema& schema, Scratch& scratch, std::size_t max_object_bytes,
                     DocumentSink& sink)
        : schema_(schema),
          scratch_(scratch),
          sink_(sink),
          parser_({.max_depth = 256, .allow_invalid_utf8 = true}, arena_, max_object_bytes,
                  static_cast<RecordSink&>(*this)) {}

    void begin(Document document) override {
        document_ = document;
        body_.clear();
    }
    error_code feed(std::string_view bytes) override {
        body_ += bytes;
        return {};
    }
    error_code finish() override {
        return document_ == Document::list ? finish_list() : finish_watch();
    }
    void release() override {}
    const ListHead& list() const noexcept override { return head_; }
    const std::string& problem() const noexcept override { return problem_; }

 private:
    void start(const Projection& root, void* aggregate, const Projection* records) {
        arena_.reset();
        scratch_.clear();
        parser_.reset();
        parser_.handler().projector.start(root, aggregate, records);
        parser_.handler().unwanted = 0;
        refused_ = {};
    }
    // Parses a document and leaves the bytes after it; after an error they are meaningless.
    error_code parse(std::string_view& bytes) {
        error_code ec;
        bytes.remove_prefix(parser_.write_some(true, bytes.data(), bytes.size(), ec));
        if (refused_) return refused_;
        if (ec) return fail(errc::malformed_response, "not JSON: " + ec.message());
        if (!parser_.done()) return fail(errc::truncated_response, "truncated");
        return {};
    }
    error_code finish_list() {
        JsonList list;
        list.item = scratch_.model();
        list_kind_ = &list.kind;
        start(schema_.list, &list, schema_.list.member("items"));
        std::string_view rest = body_;
        if (const error_code ec = parse(rest)) return ec;
        if (!without_leading_space(rest).empty()) return fail(errc::malformed_response, "behind");
        const JsonProjector& projector = parser_.handler().projector;
        if (!projector.document_problem().empty()) return errc::malformed_response;
        head_ = {list.kind, list.resource_version, list.continue_token, projector.has_records()};
        return {};
    }
    error_code finish_watch() {
        JsonEvent event;
        event.object = scratch_.model();
        event_type_ = &event.type;
        for (std::string_view rest = without_leading_space(body_); !rest.empty();
             rest = without_leading_space(rest)) {
            event.type = {};
            start(schema_.event, &event, nullptr);
            if (const error_code ec = parse(rest)) return ec;
        }
        return {};
    }
    error_code fail(errc what, std::string why) {
        problem_ = std::move(why);
        return what;
    }
    void on_record() override {
        if (refused_) return;
        JsonProjector& projector = parser_.handler().projector;
        const ObjectProblem problem{projector.problem(), projector.too_large()};
        refused_ = document_ == Document::list ? sink_.on_item(*list_kind_, problem)
                                               : sink_.on_event(*event_type_, problem);
        scratch_.clear();
        arena_.reset();
        projector.clear_problem();
    }

    const JsonSchema& schema_;
    Scratch& scratch_;
    DocumentSink& sink_;
    TextArena arena_;
    ListHead head_;
    boost::json::basic_parser<Handler> parser_;
    Document document_ = Document::list;
    const std::string* list_kind_ = nullptr;
    const std::string_view* event_type_ = nullptr;
    error_code refused_;
    std::string body_, problem_;
};

}  // namespace

std::unique_ptr<Decoder> make_boost_json_decoder(std::string_view, const KindSchema& schema,
                                                 Scratch& scratch, std::size_t max_object_bytes,
                                                 DocumentSink& sink) {
    return std::make_unique<BoostJsonDecoder>(schema.json, scratch, max_object_bytes, sink);
}

}  // namespace k8s_sd::test
