#include "support/json_oracle.hpp"

#include "k8s_sd/detail/codec/json/json_parser.hpp"
#include "k8s_sd/detail/codec/json/json_projector.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "support/boost_json_decoder.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace k8s_sd::test {

using namespace detail;

namespace {

/// Writes null for each value that the parser skips.
class WithoutPassed final : private RecordSink {
 public:
    WithoutPassed(const KindSchema& schema, std::size_t max_object_bytes)
        : schema_(schema.json),
          scratch_(schema.make_scratch()),
          parser_(arena_, max_object_bytes, static_cast<RecordSink&>(*this)) {
        list_.item = event_.object = scratch_->model();
    }
    std::string rewrite(Document document, std::string_view body) {
        begin(document);
        for (std::size_t at = 0; at < body.size() && parser_.problem().empty(); ++at) {
            if (parser_.done()) begin(document);
            const bool space = std::string_view(" \t\r\n").find(body[at]) != body.npos;
            if (between_ && space) {
                text_ += body[at];
            } else {
                between_ = false;
                take(body.substr(at, 1));
            }
            // Only white space may follow a list; the rest stays unchanged.
            if (parser_.done() && document == Document::list) return text_ += body.substr(at + 1);
        }
        return text_;
    }

 private:
    void take(std::string_view byte) {
        const bool inside = parser_.passing();
        // A number ends before a byte that begins another document.
        if (parser_.feed(byte) == 0) {
            if (!parser_.done()) text_ += byte;
            if (!parser_.done()) return;
            begin(Document::watch);
            if (byte == "\n" || byte == " " || byte == "\t" || byte == "\r") {
                text_ += byte;
                return;
            }
            between_ = false;
            return take(byte);
        }
        if (parser_.passing() && !inside) text_ += "null";
        if (!parser_.passing() && !inside) text_ += byte;
    }
    void begin(Document document) {
        arena_.reset();
        scratch_->clear();
        parser_.begin();
        between_ = true;
        if (document == Document::list) {
            parser_.handler().start(schema_.list, &list_, schema_.list.member("items"));
        } else {
            parser_.handler().start(schema_.event, &event_, nullptr);
        }
    }
    void on_record() override {
        scratch_->clear();
        arena_.reset();
        parser_.handler().clear_problem();
    }

    const JsonSchema& schema_;
    std::unique_ptr<Scratch> scratch_;
    TextArena arena_;
    JsonList list_;
    JsonEvent event_;
    JsonParser<JsonProjector> parser_;
    bool between_ = true;  // two documents
    std::string text_;
};

std::vector<std::string_view> pieces(std::string_view body, std::size_t size) {
    std::vector<std::string_view> all;
    for (; !body.empty(); body.remove_prefix(all.back().size()))
        all.push_back(body.substr(0, size));
    return all;
}

bool is_not_json(const Decoded& decoded) {
    return decoded.ec == errc::malformed_response &&
           decoded.problem.find("not JSON") != std::string::npos;
}

}  // namespace

std::string json_disagreement(Document document, Kind kind, std::string_view body,
                              std::size_t piece, DecodeOptions options) {
    const Decoded ours = decode(document, kind, pieces(body, piece), options);
    body = without_byte_order_mark(body);  // Boost.JSON refuses it
    DecodeOptions with_boost = options;
    with_boost.make = make_boost_json_decoder;
    const Decoded plain = decode(document, kind, {body}, with_boost);
    const auto said = [](const Decoded& decoded) {
        return decoded.ec.message() + " (" + decoded.problem + ")";
    };
    if (!is_not_json(plain)) {
        return ours == plain ? "" : "read otherwise: " + said(ours) + ", not " + said(plain);
    }
    // This is a limit of Boost.JSON, not of JSON.
    if (plain.problem.find("exponent overflow") != std::string::npos) return {};
    if (ours.calls.size() < plain.calls.size() ||
        !std::equal(plain.calls.begin(), plain.calls.end(), ours.calls.begin())) {
        return "read otherwise before the mistake: " + said(ours) + ", not " + said(plain);
    }
    if (is_not_json(ours)) return {};
    const std::string rest =
        WithoutPassed(schema_of(kind), options.max_object_bytes).rewrite(document, body);
    const Decoded accepted = decode(document, kind, {rest}, with_boost);
    return ours == accepted ? "" : "accepted: " + said(ours) + ", not " + said(accepted);
}

}  // namespace k8s_sd::test
