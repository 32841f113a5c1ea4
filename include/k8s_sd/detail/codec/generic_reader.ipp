#include "k8s_sd/detail/codec/generic_reader.hpp"
#include "k8s_sd/detail/codec/json/json_parser.hpp"
#include "k8s_sd/detail/codec/json/json_skip.hpp"
#include "k8s_sd/detail/text/rfc3339.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Sums up the memory of values: each takes 24 bytes in its array or object and, before that, in a
/// stack of doubling capacity.
class JsonCost {
 public:
    std::size_t sum() const noexcept { return sum_; }

    static bool passes_over() noexcept { return false; }
    static void on_passing(std::string_view) noexcept {}
    static void on_passed() noexcept {}
    static void on_document_end() noexcept {}
    void on_object_begin() noexcept { sum_ += value + table; }
    static void on_object_end() noexcept {}
    void on_array_begin() noexcept { sum_ += value + table; }
    static void on_array_end() noexcept {}
    void on_key_part(std::string_view part) noexcept { sum_ += 2 * part.size(); }
    void on_key(std::string_view rest) noexcept { sum_ += member + rest.size(); }
    void on_string_part(std::string_view part) noexcept { sum_ += 2 * part.size(); }
    void on_string(std::string_view rest) noexcept {
        sum_ += value + (rest.size() > max_inside ? table + rest.size() : 0);
    }
    void on_integer(std::int64_t) noexcept { sum_ += value; }
    void on_fraction() noexcept { sum_ += value; }
    void on_boolean(bool) noexcept { sum_ += value; }
    void on_null() noexcept { sum_ += value; }

 private:
    static constexpr std::size_t value = 72;
    static constexpr std::size_t table = 48;       // an allocation and its header
    static constexpr std::size_t member = 112;     // the key, its allocation and its index entry
    static constexpr std::size_t max_inside = 14;  // bytes of a string without an allocation

    std::size_t sum_ = 0;
};

/// The maximum cost of a text per byte, see json_cost().
constexpr std::size_t max_json_cost_per_byte = 64;

/// Upper bound of the memory Boost.JSON takes for the value of the text, including the peak during
/// parsing: two bytes such as "0," can become 72. Allocates nothing itself.
/// \returns nullopt if the text is not JSON
std::optional<std::size_t> json_cost(std::string_view text) {
    JsonParser<JsonCost> parser;
    parser.feed(text);
    if (!parser.problem().empty()) return std::nullopt;
    return parser.handler().sum();
}

/// Whether the value of the text would take more than `limit` bytes. Texts too short to reach the
/// limit are not scanned.
bool costs_more_than(std::size_t limit, std::string_view text) {
    return text.size() > limit / max_json_cost_per_byte && json_cost(text).value_or(0) > limit;
}

namespace json = boost::json;

/// Reads members of objects into structs. An absent or null member keeps its default value.
class MemberReader {
 public:
    void text(const json::object& from, std::string_view name, std::string_view& to) {
        if (const json::value* value = find(from, name)) to = text_of(*value, name);
    }
    void number(const json::object& from, std::string_view name, std::int64_t& to) {
        const json::value* value = find(from, name);
        if (!value) return;
        if (!value->is_int64()) return note(name, "an integer");
        to = value->get_int64();
    }
    void boolean(const json::object& from, std::string_view name, bool& to) {
        const json::value* value = find(from, name);
        if (!value) return;
        if (!value->is_bool()) return note(name, "a boolean");
        to = value->get_bool();
    }
    void time(const json::object& from, std::string_view name, std::optional<api::Time>& to) {
        std::string_view written;
        text(from, name, written);
        if (!written.empty()) to = read_go_time(written);
    }
    void map(const json::object& from, std::string_view name, api::StringMap& to) {
        const json::object* pairs = object(from, name);
        if (!pairs) return;
        to.reserve(pairs->size());
        for (const auto& [key, value] : *pairs) to.emplace_back(key, text_of(value, name));
    }
    const json::object* object(const json::object& from, std::string_view name) {
        const json::value* value = find(from, name);
        if (!value) return nullptr;
        if (!value->is_object()) note(name, "an object");
        return value->if_object();
    }
    /// Calls `f` for each element.
    template <class F>
    void each(const json::object& from, std::string_view name, const F& f) {
        const json::value* value = find(from, name);
        if (!value) return;
        if (!value->is_array()) return note(name, "an array");
        for (const json::value& element : value->get_array()) f(element);
    }
    std::string_view text_of(const json::value& value, std::string_view name) {
        if (value.is_string()) return value.get_string();
        if (!value.is_null()) note(name, "a string");
        return {};
    }
    void note(std::string_view name, std::string_view expected) {
        if (problem_.empty())
            problem_ = std::string(name) + ": not " + std::string(expected) + ", as expected";
    }
    std::string problem() && { return std::move(problem_); }

 private:
    static const json::value* find(const json::object& from, std::string_view name) {
        const json::value* value = from.if_contains(name);
        return value && !value->is_null() ? value : nullptr;
    }

    std::string problem_;
};

void read_owner(MemberReader& read, const json::value& value, api::ObjectMeta& meta) {
    const json::object* from = value.if_object();
    if (!from) return read.note("metadata.ownerReferences", "an array of objects");
    api::OwnerReference& owner = meta.owner_references.emplace_back();
    read.text(*from, "apiVersion", owner.api_version);
    read.text(*from, "kind", owner.kind);
    read.text(*from, "name", owner.name);
    read.text(*from, "uid", owner.uid);
    read.boolean(*from, "controller", owner.controller);
}

void read_metadata(MemberReader& read, const json::object& from, api::ObjectMeta& meta) {
    read.text(from, "name", meta.name);
    read.text(from, "namespace", meta.namespace_);
    read.text(from, "uid", meta.uid);
    read.text(from, "resourceVersion", meta.resource_version);
    read.text(from, "generateName", meta.generate_name);
    read.number(from, "generation", meta.generation);
    read.time(from, "creationTimestamp", meta.creation_timestamp);
    read.time(from, "deletionTimestamp", meta.deletion_timestamp);
    read.map(from, "labels", meta.labels);
    read.map(from, "annotations", meta.annotations);
    read.each(from, "ownerReferences",
              [&](const json::value& owner) { read_owner(read, owner, meta); });
    read.each(from, "finalizers", [&](const json::value& finalizer) {
        meta.finalizers.push_back(read.text_of(finalizer, "metadata.finalizers"));
    });
}

void read_status(MemberReader& read, const json::object& from, model::Status& status) {
    read.number(from, "code", status.code);
    read.text(from, "message", status.message);
    read.text(from, "reason", status.reason);
    const json::object* details = read.object(from, "details");
    if (!details) return;
    read.number(*details, "retryAfterSeconds", status.retry_after_seconds);
    read.each(*details, "causes", [&](const json::value& value) {
        const json::object* cause = value.if_object();
        if (!cause) return read.note("details.causes", "an array of objects");
        auto& known = status.causes.emplace_back();
        read.text(*cause, "reason", known.reason);
        read.text(*cause, "message", known.message);
    });
}

/// Checks the version, too: an object of another resource may have the same members.
bool is_status(const json::object& document, std::string_view kind) {
    const json::value* version = document.if_contains("apiVersion");
    return kind == "Status" && version && version->is_string() && version->get_string() == "v1";
}

}  // namespace

RawProblem read_generic(std::string_view text, model::Document<Generic>& document,
                        std::size_t max_bytes) {
    if (costs_more_than(2 * max_bytes, text)) {
        return {"its values take more than " + std::to_string(2 * max_bytes) + " bytes of memory",
                true};
    }
    json::parse_options options;
    options.max_depth = max_json_depth;
    boost::system::error_code ec;
    json::value parsed = json::parse({text.data(), text.size()}, ec, {}, options);
    if (ec) return {"the object is not JSON: " + ec.message()};
    if (!parsed.is_object()) return {"not an object"};
    const json::object& object = document.content = std::move(parsed.get_object());
    MemberReader read;
    read.text(object, "kind", document.kind);
    if (is_status(object, document.kind)) {
        read_status(read, object, document.status);
    } else if (const json::object* metadata = read.object(object, "metadata")) {
        read_metadata(read, *metadata, document.metadata);
        document.managed_fields = metadata->contains("managedFields");
    }
    return {std::move(read).problem()};
}

}  // namespace k8s_sd::inline v0::detail
