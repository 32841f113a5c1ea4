#include "sim/api/negotiation.hpp"

#include "k8s_sd/detail/text/text.hpp"
#include "sim/api/status.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {
namespace {

using detail::trim;

constexpr std::string_view json_type = "application/json";
constexpr std::string_view protobuf_type = "application/vnd.kubernetes.protobuf";
constexpr std::string_view protobuf_watch_type = "application/vnd.kubernetes.protobuf;stream=watch";

/// Removes the text before the separator, and the separator, and returns the text.
std::string_view take_part(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

/// "application/json;as=Table;q=0.5"
struct MediaRange {
    std::string_view type;
    std::string_view subtype;
    std::vector<std::pair<std::string_view, std::string_view>> parameters;
    double quality = 1;

    std::string_view parameter(std::string_view name) const {
        for (const auto& [key, value] : parameters) {
            if (key == name) return value;
        }
        return {};
    }
    bool includes(std::string_view media_type) const {
        if (type == "*") return subtype == "*";
        const std::size_t slash = media_type.find('/');
        return type == media_type.substr(0, slash) &&
               (subtype == "*" || subtype == media_type.substr(slash + 1));
    }
    /// The order of Go's library. It is no strict weak order, so std::sort must not use it.
    bool precedes(const MediaRange& other) const {
        return quality > other.quality || (type != "*" && other.type == "*") ||
               (subtype != "*" && other.subtype == "*");
    }
};

std::optional<MediaRange> parse_range(std::string_view text) {
    MediaRange range;
    std::string_view media_type = trim(take_part(text, ';'));
    range.type = trim(take_part(media_type, '/'));
    range.subtype = trim(media_type);
    if (range.subtype.empty() && range.type == "*") range.subtype = "*";
    if (range.subtype.empty() || range.subtype.find('/') != std::string_view::npos) {
        return std::nullopt;
    }
    while (!text.empty()) {
        std::string_view value = take_part(text, ';');
        const std::string_view name = trim(take_part(value, '='));
        value = trim(value);
        if (name == "q") {
            range.quality = std::strtod(std::string(value).c_str(), nullptr);
        } else if (!value.empty()) {
            range.parameters.emplace_back(name, value);
        }
    }
    return range;
}

std::vector<MediaRange> parse_accept(std::string_view header) {
    std::vector<MediaRange> ranges;
    while (!header.empty()) {
        auto range = parse_range(trim(take_part(header, ',')));
        if (!range) continue;
        auto place = ranges.end();
        while (place != ranges.begin() && range->precedes(*std::prev(place))) --place;
        ranges.insert(place, std::move(*range));
    }
    return ranges;
}

bool has_unknown_parameter(const MediaRange& range) {
    constexpr std::string_view known[] = {"as", "g", "v", "stream", "pretty", "charset"};
    return std::any_of(range.parameters.begin(), range.parameters.end(), [&](const auto& p) {
        return std::find(std::begin(known), std::end(known), p.first) == std::end(known);
    });
}

/// `drop=metadata.managedFields+metadata.annotations`; unknown fields are ignored.
bool drops_managed_fields(const MediaRange& range) {
    std::string_view fields = range.parameter("drop");
    while (!fields.empty()) {
        if (take_part(fields, '+') == "metadata.managedFields") return true;
    }
    return false;
}

/// The form requested by the parameters of a range; nullopt if the server does not support it.
std::optional<Form> form_of(const MediaRange& range, bool protobuf,
                            const ApiServerOptions& options) {
    if (options.refuse_accept_parameters && has_unknown_parameter(range)) return std::nullopt;
    const std::string_view stream = range.parameter("stream");
    if (!stream.empty() && stream != "watch") return std::nullopt;
    const std::string_view as = range.parameter("as");
    const std::string_view group = range.parameter("g");
    const std::string_view version = range.parameter("v");
    if (as.empty() && group.empty() && version.empty()) return Form::object;
    if (group != "meta.k8s.io" || version != "v1") return std::nullopt;
    if (as == "Table" && !protobuf) return Form::table;
    const bool partial = as == "PartialObjectMetadata" || as == "PartialObjectMetadataList";
    if (partial && options.metadata_only) return Form::metadata;
    return std::nullopt;
}

struct Choice {
    MediaRange range;
    Form form;
    bool protobuf;
};

/// The choice for the first range the server can produce.
std::optional<Choice> choose(const Request& request, const ApiServerOptions& options,
                             bool only_objects) {
    const std::string_view header = request.header("Accept").value_or("");
    if (header.empty()) return Choice{{}, Form::object, false};
    for (MediaRange& range : parse_accept(header)) {
        for (const bool protobuf : {false, true}) {
            if (protobuf && !options.protobuf) continue;
            if (!range.includes(protobuf ? protobuf_type : json_type)) continue;
            const auto form = form_of(range, protobuf, options);
            if (!form || (only_objects && *form != Form::object)) continue;
            return Choice{std::move(range), *form, protobuf};
        }
    }
    return std::nullopt;
}

[[noreturn]] void not_acceptable(const std::string& message) {
    fail(406, "NotAcceptable", message);
}

/// The partial forms of lists and objects have different names.
void check_partial(std::string_view as, Endpoint endpoint) {
    const bool wants_list = as == "PartialObjectMetadataList";
    if (wants_list == (endpoint == Endpoint::list)) return;
    not_acceptable("you requested " + std::string(as) + ", but the requested object is " +
                   (wants_list ? "not a list" : "a list"));
}

}  // namespace

std::string_view Encoding::content_type(bool watch) const {
    if (!protobuf) return json_type;
    return watch ? protobuf_watch_type : protobuf_type;
}

Encoding negotiate(const Request& request, Endpoint endpoint, const ApiServerOptions& options) {
    const auto choice = choose(request, options, false);
    if (!choice) {
        std::string accepted(json_type);
        if (options.protobuf) (accepted += ", ") += protobuf_type;
        not_acceptable("only the following media types are accepted: " + accepted);
    }
    if (choice->form == Form::metadata) check_partial(choice->range.parameter("as"), endpoint);
    const bool drops = options.drop_managed_fields && drops_managed_fields(choice->range);
    return {choice->form, choice->protobuf, {}, drops};
}

bool status_in_protobuf(const Request& request, const ApiServerOptions& options) {
    const auto choice = choose(request, options, true);
    return choice && choice->protobuf;
}

}  // namespace k8s_sd::inline v0::sim
