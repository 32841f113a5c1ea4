#pragma once

#include "json/json_writer.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <string>
#include <string_view>

namespace k8s_sd_c {

/// Escapes what JSON demands, and nothing else. Invalid UTF-8 becomes U+FFFD.
struct Quote {
    static void append(std::string& out, std::string_view text) {
        out += '"';
        k8s_sd::detail::for_each_utf8_part(text, [&out](std::string_view part) {
            for (const char c : part) append(out, c);
        });
        out += '"';
    }

 private:
    static void append(std::string& out, char c) {
        constexpr std::string_view digits = "0123456789abcdef";
        if (c == '"' || c == '\\') {
            (out += '\\') += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out += digits[static_cast<unsigned char>(c) >> 4U];
            out += digits[static_cast<unsigned char>(c) & 15U];
        } else {
            out += c;
        }
    }
};

using JsonWriter = k8s_sd_json::JsonWriter<Quote>;

}  // namespace k8s_sd_c
