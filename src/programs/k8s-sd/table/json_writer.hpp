#pragma once

#include "cli/json_text.hpp"
#include "k8s_sd/labels.hpp"

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// Appends JSON to a text, with commas between values.
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
        support::append_json(out_, text);
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
    JsonWriter& value(const k8s_sd::LabelMap& labels) {
        begin('{');
        for (const auto& [label, text] : labels) member(label, text);
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

}  // namespace k8s_sd_program
