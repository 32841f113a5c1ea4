#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>

namespace k8s_sd_json {

/// Appends JSON to a text, with commas between values.
/// \tparam Quote  has `static void append(std::string& out, std::string_view text)`, which appends
///                a text as a JSON string; the characters to escape depend on the readers
template <class Quote>
class JsonWriter {
 public:
    /// \param out  outlives the writer
    explicit JsonWriter(std::string& out) : out_(out) {}

    /// \param bracket  '{' or '['
    JsonWriter& begin(char bracket) {
        separate();
        out_ += bracket;
        comma_ = false;
        return *this;
    }
    JsonWriter& end(char bracket) {
        out_ += bracket;
        comma_ = true;
        return *this;
    }
    JsonWriter& name(std::string_view text) {
        value(text);
        out_ += ':';
        comma_ = false;
        return *this;
    }
    JsonWriter& value(std::string_view text) {
        separate();
        Quote::append(out_, text);
        return *this;
    }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
    JsonWriter& value(std::same_as<bool> auto truth) { return raw(truth ? "true" : "false"); }
    template <class Number>
    requires(std::integral<Number> || std::floating_point<Number>) &&
        (!std::same_as<Number, bool>)JsonWriter& value(Number number) {
        char digits[32];
        const auto [last, error] = std::to_chars(digits, digits + sizeof(digits), number);
        return raw(std::string_view(digits, static_cast<std::size_t>(last - digits)));
    }
    /// An object of names and texts, such as a label set.
    template <std::ranges::range Pairs>
    requires(!std::convertible_to<const Pairs&, std::string_view>)
        JsonWriter& value(const Pairs& pairs) {
        begin('{');
        for (const auto& [key, text] : pairs) member(key, text);
        return end('}');
    }
    JsonWriter& null() { return raw("null"); }
    /// Appends a JSON text.
    JsonWriter& raw(std::string_view json) {
        separate();
        out_ += json;
        return *this;
    }
    /// The size of the whole text, in bytes.
    std::size_t size() const noexcept { return out_.size(); }
    template <class Value>
    JsonWriter& member(std::string_view key, const Value& of_key) {
        return name(key).value(of_key);
    }

 private:
    void separate() {
        if (comma_) out_ += ',';
        comma_ = true;
    }

    std::string& out_;
    bool comma_ = false;
};

}  // namespace k8s_sd_json
