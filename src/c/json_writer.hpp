#pragma once

#include "k8s_sd/detail/text/utf8.hpp"

#include <concepts>
#include <string>
#include <string_view>

namespace k8s_sd_c {

/// Appends JSON to a text. Invalid UTF-8 becomes U+FFFD.
class JsonWriter {
 public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    JsonWriter& begin(char bracket) {
        separate();
        out_ += bracket;
        first_ = true;
        return *this;
    }
    JsonWriter& end(char bracket) {
        out_ += bracket;
        first_ = false;
        return *this;
    }
    JsonWriter& key(std::string_view name) {
        separate();
        quote(name);
        out_ += ':';
        first_ = true;
        return *this;
    }
    JsonWriter& text(std::string_view value) {
        separate();
        quote(value);
        return *this;
    }
    JsonWriter& number(std::integral auto value) {
        separate();
        out_ += std::to_string(value);
        return *this;
    }
    JsonWriter& boolean(bool value) { return json(value ? "true" : "false"); }
    /// Text that is JSON already.
    JsonWriter& json(std::string_view value) {
        separate();
        out_ += value;
        return *this;
    }
    JsonWriter& member(std::string_view name, std::string_view value) {
        return key(name).text(value);
    }

 private:
    void separate() {
        if (!first_) out_ += ',';
        first_ = false;
    }
    void quote(std::string_view value) {
        out_ += '"';
        k8s_sd::detail::for_each_utf8_part(value, [this](std::string_view part) {
            for (const char c : part) append(c);
        });
        out_ += '"';
    }
    void append(char c) {
        constexpr std::string_view digits = "0123456789abcdef";
        if (c == '"' || c == '\\') {
            (out_ += '\\') += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out_ += "\\u00";
            out_ += digits[static_cast<unsigned char>(c) >> 4U];
            out_ += digits[static_cast<unsigned char>(c) & 15U];
        } else {
            out_ += c;
        }
    }

    std::string& out_;
    bool first_ = true;
};

}  // namespace k8s_sd_c
