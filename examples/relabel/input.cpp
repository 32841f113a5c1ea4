#include "input.hpp"

#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <istream>
#include <iterator>
#include <string>
#include <string_view>

namespace relabel {

namespace {

namespace json = boost::json;

constexpr std::string_view space = " \t\r\n";

/// "line 3, byte 7"; `line` is the number of the text's first line.
std::string place(std::string_view text, std::size_t offset, std::size_t line) {
    const std::string_view before = text.substr(0, offset);
    const auto breaks = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_begin = breaks == 0 ? 0 : before.rfind('\n') + 1;
    return "line " + std::to_string(line + breaks) + ", byte " +
           std::to_string(offset - line_begin + 1);
}

json::value parse(std::string_view text, std::size_t line) {
    json::parser parser;
    boost::system::error_code error;
    std::size_t offset = parser.write_some(text.data(), text.size(), error);
    // Only white space may follow the value.
    const std::size_t rest = text.find_first_not_of(space, offset);
    if (!error && rest != std::string_view::npos) {
        offset = rest;
        error = json::error::extra_data;
    }
    if (error) {
        throw InputError(place(text, offset, line) + ": no JSON: " + error.message());
    }
    return parser.release();
}

k8s_sd::LabelMap read_labels(const json::value& value, const std::string& where) {
    if (!value.is_object()) throw InputError(where + ": a label set must be an object");
    k8s_sd::LabelMap labels;
    for (const auto& [name, text] : value.as_object()) {
        if (!text.is_string()) {
            throw InputError(where + ": the value of " + json::serialize(name) +
                             " must be a text in quotes");
        }
        if (!text.as_string().empty()) labels.emplace(name, text.as_string());
    }
    return labels;
}

}  // namespace

Input::Input(std::istream& in) : in_(in) {
    for (; std::getline(in_, line_); blank_ += line_ + '\n') {
        ++line_number_;
        const std::size_t begin = line_.find_first_not_of(space);
        if (begin == std::string::npos) continue;
        is_array_ = line_[begin] == '[';
        return;
    }
}

void Input::read(const Take& take) {
    if (is_array_) {
        read_array(take);
    } else {
        read_lines(take);
    }
}

void Input::read_lines(const Take& take) {
    for (; in_; ++line_number_, std::getline(in_, line_)) {
        if (line_.find_first_not_of(space) == std::string::npos) continue;
        take(read_labels(parse(line_, line_number_), "line " + std::to_string(line_number_)));
    }
}

void Input::read_array(const Take& take) {
    const std::string rest{std::istreambuf_iterator<char>(in_), {}};
    const json::value document = parse(blank_ + line_ + '\n' + rest, 1);
    std::size_t index = 0;
    for (const json::value& element : document.as_array()) {
        take(read_labels(element, "element " + std::to_string(index)));
        ++index;
    }
}

}  // namespace relabel
