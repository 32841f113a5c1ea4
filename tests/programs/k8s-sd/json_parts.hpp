#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program::test {

/// Splits JSON without changing a byte of the parts, because each part of a list has one text. The
/// JSON contains no white space except line breaks between values.
class JsonParts {
 public:
    explicit JsonParts(std::string_view text) : text_(text) {}

    /// The elements of an array.
    static std::vector<std::string_view> elements(std::string_view array) {
        JsonParts parts(array);
        std::vector<std::string_view> all;
        parts.expect('[');
        while (!parts.ends_with(']')) all.push_back(parts.value());
        return all;
    }
    /// The members of an object, by name.
    static std::map<std::string_view, std::string_view> members(std::string_view object) {
        JsonParts parts(object);
        std::map<std::string_view, std::string_view> all;
        parts.expect('{');
        while (!parts.ends_with('}')) {
            const std::string_view name = parts.value();
            parts.expect(':');
            if (!all.emplace(name.substr(1, name.size() - 2), parts.value()).second) parts.fail();
        }
        return all;
    }

 private:
    [[noreturn]] void fail() const {
        throw std::invalid_argument("no JSON of ours: " + std::string(text_.substr(0, 80)));
    }
    char next() const {
        if (text_.empty()) fail();
        return text_.front();
    }
    void expect(char c) {
        if (next() != c) fail();
        text_.remove_prefix(1);
    }
    void skip_breaks() {
        while (!text_.empty() && text_.front() == '\n') text_.remove_prefix(1);
    }
    /// Otherwise a value follows.
    bool ends_with(char bracket) {
        skip_breaks();
        if (next() == bracket) {
            expect(bracket);
            skip_breaks();
            if (!text_.empty()) fail();
            return true;
        }
        if (!first_) expect(',');
        first_ = false;
        skip_breaks();
        return false;
    }
    std::string_view value() {
        std::size_t end = 0;
        std::size_t depth = 0;
        do {
            if (end >= text_.size()) fail();
            const char c = text_[end];
            if (c == '"') {
                end = end_of_string(end);
                continue;
            }
            if (c == '{' || c == '[') ++depth;
            if (c == '}' || c == ']') --depth;
            ++end;
        } while (depth > 0);
        const std::string_view value = text_.substr(0, end);
        text_.remove_prefix(end);
        return value;
    }
    std::size_t end_of_string(std::size_t begin) const {
        for (std::size_t i = begin + 1; i < text_.size(); ++i) {
            if (text_[i] == '"') return i + 1;
            if (text_[i] == '\\') ++i;
        }
        fail();
    }

    std::string_view text_;
    bool first_ = true;
};

}  // namespace k8s_sd_program::test
