#pragma once

#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/codec/decoder.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::detail {
struct ObjectMaker;
}

namespace k8s_sd::test {

/// The result of a ListWatchReader for one JSON body.
struct Decoded {
    /// One line per call of the sink: "added default/p @7", followed by the object's contribution
    /// to labels; "bookmark @8", "error 410 Expired: ...", "bad default/p @9: ...".
    std::vector<std::string> calls;
    std::vector<ObjectPtr> objects;
    std::vector<detail::ServerStatus> errors;
    error_code ec{};  ///< of the first failed feed(), otherwise of finish()
    std::string problem{}, resource_version{}, continue_token{};

    friend bool operator==(const Decoded& a, const Decoded& b) {
        return a.calls == b.calls && a.ec == b.ec && a.resource_version == b.resource_version &&
               a.continue_token == b.continue_token;
    }
};

using detail::Document;

struct DecodeOptions {
    std::size_t max_object_bytes = std::size_t{1} << 20;
    LabelDialect dialect = LabelDialect::prometheus;
    detail::MakeDecoder make = detail::make_decoder;
};

/// Feeds one chunk after the other and finishes. The chunks are copied first, so that a sanitizer
/// detects reads beyond the end of one.
Decoded decode(Document, Kind, const std::vector<std::string_view>& chunks, DecodeOptions = {});
inline Decoded decode_list(Kind kind, std::string_view body, DecodeOptions options = {}) {
    return decode(Document::list, kind, {body}, options);
}
inline Decoded decode_watch(Kind kind, std::string_view body, DecodeOptions options = {}) {
    return decode(Document::watch, kind, {body}, options);
}
/// Decodes several bodies with one decoder, as a watcher does; the results are in order.
std::vector<Decoded> decode_in_a_row(Kind, const std::vector<std::pair<Document, std::string>>&,
                                     DecodeOptions = {});

/// Decodes one object from JSON; throws std::runtime_error with the reason if it is unusable.
ObjectPtr decode_object(Kind, detail::ObjectMaker&, std::string_view json);

/// A text of all parts of an object that affect labels.
std::string describe(const Object&, const detail::DialectRules&);

/// A file of tests/data/decoder.
std::string decoder_data(const std::string& name);

}  // namespace k8s_sd::test
