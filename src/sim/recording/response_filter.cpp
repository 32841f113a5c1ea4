#include "sim/recording/response_filter.hpp"

#include "sim/recording/recording_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

namespace k8s_sd::inline v0::sim {

namespace {

constexpr std::size_t max_head = std::size_t{64} << 10;
constexpr std::size_t max_text_body = std::size_t{64} << 10;

std::string in_lower_case(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    return result;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    return text;
}

void append_chunk(std::string& out, std::string_view body) {
    if (body.empty()) return;
    std::array<char, 24> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", body.size());
    ((out += size.data()) += body) += "\r\n";
}

std::size_t leading_number(std::string_view text, int base) {
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

}  // namespace

ResponseFilter::ResponseFilter(std::shared_ptr<Anonymiser> names, std::string_view request)
    : names_(std::move(names)), has_documents_(is_for_documents(request)) {}

std::string ResponseFilter::feed(std::string_view bytes) {
    std::string out;
    if (is_head_) {
        head_ += bytes;
        const std::size_t end = head_.find("\r\n\r\n");
        if (end == std::string::npos) {
            // This is no HTTP; without names to hide it is recorded as it is.
            if (head_.size() < max_head || names_) return out;
            is_head_ = false;
            return std::exchange(head_, {});
        }
        is_head_ = false;
        const std::string all = std::exchange(head_, {});
        read_head(std::string_view(all).substr(0, end + 2), out);
        const std::string_view rest = std::string_view(all).substr(end + 4);
        // The head of an interim response is followed by another head.
        if (is_head_) return out + feed(rest);
        read_body(rest, out);
        return out;
    }
    read_body(bytes, out);
    return out;
}

std::string ResponseFilter::end() {
    std::string out;
    if (!names_) return std::exchange(head_, {});
    if (body_ == Body::until_end) end_body(out);
    return out;
}

void ResponseFilter::read_head(std::string_view head, std::string& out) {
    constexpr std::array<std::string_view, 4> kept{"content-type", "connection", "date",
                                                   "retry-after"};
    const std::size_t line_end = head.find("\r\n");
    std::string_view status = head.substr(0, line_end);
    const std::size_t code_at = std::min(status.find(' ') + 1, status.size());
    const std::size_t code = leading_number(status.substr(code_at), 10);
    // A proxy may have written names into the phrase.
    if (names_) status = status.substr(0, code_at + 3);
    (out += status) += names_ ? " \r\n" : "\r\n";
    body_ = Body::until_end;
    bool is_json = false;
    std::string_view rest = head.substr(line_end + 2);
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find("\r\n"));
        rest.remove_prefix(std::min(line.size() + 2, rest.size()));
        const std::string name = in_lower_case(line.substr(0, line.find(':')));
        const std::string value =
            in_lower_case(trimmed(line.substr(std::min(name.size() + 1, line.size()))));
        if (name == "transfer-encoding" && value.find("chunked") != value.npos) {
            body_ = Body::chunked;
        } else if (name == "content-length" && body_ != Body::chunked) {
            body_ = Body::sized;
            rest_ = leading_number(value, 10);
        } else if (name == "content-encoding") {
            is_compressed_ = !names_ && value != "identity";
        } else if (name == "content-type") {
            is_json = value.find("json") != value.npos;
        }
        const bool is_kept =
            names_ ? std::find(kept.begin(), kept.end(), name) != kept.end() : name != "set-cookie";
        if (is_kept) (out += line) += "\r\n";
    }
    const bool is_interim = code >= 100 && code < 200;
    if (is_interim) is_head_ = true;
    if (!names_ || is_interim || code == 204 || code == 304) {
        if (names_) body_ = Body::none;
        out += "\r\n";
        return;
    }
    out += "Transfer-Encoding: chunked\r\n\r\n";
    using Content = JsonAnonymiser::Content;
    // Errors name users and objects, whatever was requested.
    const bool is_document = has_documents_ && code < 300;
    if (is_json) json_.emplace(*names_, is_document ? Content::documents : Content::objects);
    if (body_ == Body::sized && rest_ == 0) end_body(out);
}

void ResponseFilter::read_body(std::string_view bytes, std::string& out) {
    if (!names_) {
        out += bytes;
    } else if (body_ == Body::chunked) {
        read_chunks(bytes, out);
    } else if (body_ == Body::until_end) {
        add_chunk(bytes, out);
    } else if (body_ == Body::sized) {
        bytes = bytes.substr(0, rest_);
        rest_ -= bytes.size();
        add_chunk(bytes, out);
        if (rest_ == 0) end_body(out);
    }
}

void ResponseFilter::read_chunks(std::string_view bytes, std::string& out) {
    while (!bytes.empty() && body_ == Body::chunked) {
        if (rest_ > 0) {
            const std::string_view part = bytes.substr(0, rest_);
            rest_ -= part.size();
            bytes.remove_prefix(part.size());
            add_chunk(part, out);
            continue;
        }
        const char c = bytes.front();
        bytes.remove_prefix(1);
        if (c == '\r') continue;
        if (c != '\n') {
            if (chunk_line_.size() < 100) chunk_line_ += c;
            continue;
        }
        // The line end after a chunk leaves an empty line, and so does the end of the trailers.
        if (is_last_chunk_ && chunk_line_.empty()) {
            end_body(out);
        } else if (!is_last_chunk_ && !chunk_line_.empty()) {
            rest_ = leading_number(chunk_line_, 16);
            is_last_chunk_ = rest_ == 0;
        }
        chunk_line_.clear();
    }
}

void ResponseFilter::add_chunk(std::string_view body, std::string& out) {
    if (!json_) {
        // Words may be divided between pieces.
        if (text_.size() < max_text_body) text_ += body;
        return;
    }
    append_chunk(out, json_->feed(body));
}

void ResponseFilter::end_body(std::string& out) {
    body_ = Body::done;
    append_chunk(out, names_->text(text_));
    out += "0\r\n\r\n";
}

}  // namespace k8s_sd::inline v0::sim
