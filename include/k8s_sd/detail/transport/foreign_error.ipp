#include "k8s_sd/detail/text/json_text.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/detail/transport/foreign_error.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <initializer_list>

namespace k8s_sd::inline v0::detail {

namespace {

namespace json = boost::json;

/// Larger bodies are no error messages.
constexpr std::size_t max_error_body = std::size_t{1} << 20;
constexpr int max_error_depth = 4;

std::string_view as_text(const json::value& value) {
    const json::string* text = value.if_string();
    return text ? trim(std::string_view(text->data(), text->size())) : std::string_view();
}

/// The first non-empty string member with one of these names, case-insensitively.
std::string_view error_member(const json::object& object,
                              std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        for (const auto& member : object) {
            const std::string_view key(member.key().data(), member.key().size());
            if (key.size() != name.size() || lower_case(key) != name) continue;
            if (const std::string_view text = as_text(member.value()); !text.empty()) return text;
        }
    }
    return {};
}

std::string joined_error(std::string_view name, std::string_view message) {
    if (name.empty() || message.find(name) != std::string_view::npos) return std::string(message);
    return std::string(name) + (message.empty() ? "" : ": ") + std::string(message);
}

std::string error_in(const json::value& value, int depth);

/// Searches the members services use for nested errors.
std::string inner_error(const json::object& object, int depth) {
    for (const std::string_view name : {"error", "errors", "fault", "exception"}) {
        const json::value* inner = object.if_contains({name.data(), name.size()});
        if (!inner || inner->is_string()) continue;
        std::string text = error_in(*inner, depth + 1);
        if (!text.empty()) return text;
    }
    return {};
}

std::string error_in(const json::object& object, int depth) {
    if (std::string inner = inner_error(object, depth); !inner.empty()) return inner;
    const std::string_view message =
        error_member(object, {"error_description", "message", "detail", "details", "description",
                              "errormessage", "faultstring", "msg", "reason"});
    std::string_view name = error_member(object, {"error", "status", "title", "code", "__type"});
    if (const std::string lower = lower_case(name);
        lower == "error" || lower == "fail" || lower == "failure")
        name = error_member(object, {"code", "title"});
    return joined_error(name, message);
}

std::string error_in(const json::value& value, int depth) {
    if (depth > max_error_depth) return {};
    if (const json::object* object = value.if_object()) return error_in(*object, depth);
    if (const json::array* array = value.if_array()) {
        return array->empty() ? std::string() : error_in(array->front(), depth + 1);
    }
    return std::string(as_text(value));
}

/// "the answer is a web page (HTML)", with its title if present.
std::string error_of_page(std::string_view page) {
    const std::string lower = lower_case(page.substr(0, 16 * 1024));
    const std::string text = "the answer is a web page (HTML)";
    std::size_t begin = lower.find("<title");
    if (begin == std::string::npos) return text;
    begin = lower.find('>', begin);
    const std::size_t end = lower.find("</title", begin);
    if (end == std::string::npos) return text;
    const std::string_view title = trim(page.substr(begin + 1, end - begin - 1));
    return title.empty() ? text : text + " with the title " + in_quotes(printable(title));
}

}  // namespace

std::string read_foreign_error(std::string_view body) {
    body = trim(without_byte_order_mark(body));
    if (body.starts_with('<')) return error_of_page(body);
    if (!body.starts_with('{') && !body.starts_with('[')) return std::string(body);
    if (body.size() > max_error_body) return {};
    json::monotonic_resource memory;
    boost::system::error_code broken;
    const json::value document = json::parse(without_lone_surrogates(body), broken, &memory);
    return broken ? std::string(body) : error_in(document, 0);
}

}  // namespace k8s_sd::inline v0::detail
