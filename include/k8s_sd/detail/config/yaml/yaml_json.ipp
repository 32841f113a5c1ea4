#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string_view.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr int max_nesting = 32;

/// Whether the text is a number in JSON: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_json_number(std::string_view text) {
    const auto skip = [&](std::string_view one_of) {
        const bool there = !text.empty() && one_of.find(text[0]) != std::string_view::npos;
        if (there) text.remove_prefix(1);
        return there;
    };
    const auto skip_digits = [&] {
        std::size_t count = 0;
        while (skip("0123456789")) ++count;
        return count;
    };
    skip("-");
    if (!skip("0") && skip_digits() == 0) return false;
    if (skip(".") && skip_digits() == 0) return false;
    if (skip("eE")) {
        skip("+-");
        if (skip_digits() == 0) return false;
    }
    return text.empty();
}

class JsonMaker {
 public:
    explicit JsonMaker(const JsonOptions& options) : options_(options) {}

    std::string make(const YamlValue& yaml) {
        write(yaml, 1);
        return std::move(text_);
    }

 private:
    void write(const YamlValue& yaml, int depth) {
        if (depth > max_nesting) yaml.fail("is nested too deeply");
        if (++values_ > options_.max_values) yaml.fail("has too many values");
        if (yaml.is_null()) {
            text_ += "null";
        } else if (yaml.is_sequence()) {
            write_list('[', yaml.items(), ']',
                       [&](const YamlValue& item) { write(item, depth + 1); });
        } else if (yaml.is_mapping()) {
            write_list('{', yaml.entries(), '}', [&](const YamlValue::KeyValue& entry) {
                write_text(entry.first);
                text_ += ':';
                write(entry.second, depth + 1);
            });
        } else {
            write_scalar(yaml);
        }
        // Aliases can also repeat a long text.
        if (text_.size() > options_.max_bytes) yaml.fail("is too large");
    }

    template <class List, class Write>
    void write_list(char open, const List& list, char close, Write write_one) {
        text_ += open;
        bool first = true;
        for (const auto& item : list) {
            if (!first) text_ += ',';
            first = false;
            write_one(item);
        }
        text_ += close;
    }

    void write_scalar(const YamlValue& yaml) {
        const std::string text = yaml.string();
        const bool typed = yaml.is_plain() && !options_.scalars_are_texts;
        const std::optional<bool> truth = typed ? yaml.as_boolean() : std::nullopt;
        if (truth) {
            text_ += *truth ? "true" : "false";
        } else if (typed && is_json_number(text)) {
            text_ += text;
        } else if (const auto number = value_of(yaml); typed && number) {
            text_ += std::to_string(*number);
        } else {
            write_text(text);
        }
    }

    /// JSON has no 0x10 and no 1_000.
    std::optional<std::uint64_t> value_of(const YamlValue& yaml) const {
        return options_.whole_numbers_by_value ? yaml.as_unsigned_integer() : std::nullopt;
    }

    void write_text(const std::string& text) {
        text_ += boost::json::serialize(boost::json::string_view(text));
    }

    const JsonOptions& options_;
    std::string text_;
    std::size_t values_ = 0;
};

}  // namespace

std::string to_json(const YamlValue& yaml, const JsonOptions& options) {
    return JsonMaker(options).make(yaml);
}

}  // namespace k8s_sd::inline v0::detail
