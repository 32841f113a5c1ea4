#include "http/http_request.hpp"

#include "http/http_fields.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace http {

namespace beast = boost::beast;
using beast::http::field;
using boost::beast::iequals;
using Message = HttpRequestReader::Message;
using Fault = std::optional<HttpRefusal>;

namespace {

HttpRefusal refusal_of(boost::system::error_code ec) {
    if (ec == beast::http::error::header_limit) {
        return {431, "the request line and headers are too long\n"};
    }
    if (ec == beast::http::error::body_limit) return {413, "the body of the request is too long\n"};
    return {400, "not an HTTP request (" + ec.message() + ")\n"};
}

/// The values of all fields with this name, in their order.
std::vector<std::string_view> values_of(const Message& message, field name) {
    std::vector<std::string_view> values;
    const auto [begin, end] = message.equal_range(name);
    std::transform(begin, end, std::back_inserter(values), [](const auto& one) {
        return std::string_view(one.value().data(), one.value().size());
    });
    return values;
}

/// A body with the last coding `chunked` ends where this coding says; otherwise its end is unknown.
Fault transfer_coding_fault(const Message& message) {
    std::vector<std::string_view> codings;
    const auto fields = values_of(message, field::transfer_encoding);
    for (const std::string_view value : fields) {
        for (const std::string_view coding : list_items(value)) codings.push_back(coding);
    }
    if (fields.empty()) return std::nullopt;
    if (message.version() < 11) {
        return HttpRefusal{400, "HTTP/1.0 has no Transfer-Encoding\n"};
    }
    const auto is_chunked = [](std::string_view coding) { return iequals(coding, "chunked"); };
    if (codings.empty() || !is_chunked(codings.back()) ||
        std::count_if(codings.begin(), codings.end(), is_chunked) != 1) {
        return HttpRefusal{400, "Transfer-Encoding must end in chunked, and have it once\n"};
    }
    // The parser must have interpreted the list in the same way.
    if (codings.size() == 1 && fields.size() == 1 && is_chunked(fields.front())) {
        return std::nullopt;
    }
    return HttpRefusal{501, "the only transfer coding that is understood is chunked\n"};
}

Fault length_fault(const Message& message) {
    const auto lengths = values_of(message, field::content_length);
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    };
    if (lengths.empty() || (lengths.size() == 1 && is_number(lengths.front()))) {
        return std::nullopt;
    }
    return HttpRefusal{400, "Content-Length must be one number\n"};
}

Fault host_fault(const Message& message) {
    const auto hosts = values_of(message, field::host);
    if (hosts.empty() && message.version() < 11) return std::nullopt;
    if (hosts.size() != 1) {
        return HttpRefusal{400, "a request must have one header Host\n"};
    }
    if (is_host_and_port(hosts.front())) return std::nullopt;
    return HttpRefusal{400, "the header Host must be a host, or a host and a port\n"};
}

struct AbsoluteTarget {
    std::string_view authority;
    std::string_view rest;  // path and query
};

/// nullopt for another form of the target.
std::optional<AbsoluteTarget> absolute_target(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!iequals(target.substr(0, scheme.size()), scheme)) continue;
        target.remove_prefix(scheme.size());
        const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
        return AbsoluteTarget{target.substr(0, end), target.substr(end)};
    }
    return std::nullopt;
}

std::string_view target_of(const Message& message) {
    return {message.target().data(), message.target().size()};
}

Fault target_fault(const Message& message) {
    const std::string_view target = target_of(message);
    const auto absolute = absolute_target(target);
    if (absolute && !is_host_and_port(absolute->authority)) {
        return HttpRefusal{400, "between http:// and the path there must be a host, or a host and "
                                "a port\n"};
    }
    if (absolute || target.starts_with('/')) return std::nullopt;
    return HttpRefusal{400, "the target of a request must begin with /, http:// or https://\n"};
}

/// HTTP/1.0 has no expectations: they are ignored.
std::vector<std::string_view> expectations_of(const Message& message) {
    std::vector<std::string_view> expectations;
    if (message.version() < 11) return expectations;
    for (const std::string_view value : values_of(message, field::expect)) {
        for (const std::string_view one : list_items(value)) expectations.push_back(one);
    }
    return expectations;
}

Fault expectation_fault(const Message& message) {
    const auto expectations = expectations_of(message);
    const bool known = std::all_of(expectations.begin(), expectations.end(),
                                   [](auto one) { return iequals(one, "100-continue"); });
    if (known) return std::nullopt;
    return HttpRefusal{417, "the only expectation that is met is 100-continue\n"};
}

Fault fault_of(const Message& message) {
    for (const auto check :
         {transfer_coding_fault, length_fault, host_fault, target_fault, expectation_fault}) {
        if (Fault fault = check(message)) return fault;
    }
    return std::nullopt;
}

/// RFC 9112, 3.2.2: the authority of the target overrides Host.
void use_origin_form(Message& message) {
    const std::string target(target_of(message));
    const auto absolute = absolute_target(target);
    if (!absolute) return;
    const bool has_path = absolute->rest.starts_with('/');
    message.target((has_path ? "" : "/") + std::string(absolute->rest));
    message.set(field::host, std::string(absolute->authority));
}

}  // namespace

HttpRequestReader::HttpRequestReader(std::size_t head_bytes, std::size_t body_bytes)
    : head_bytes_(head_bytes) {
    parser_.header_limit(static_cast<std::uint32_t>(head_bytes));
    parser_.body_limit(body_bytes);
    parser_.eager(false);
}

HttpRequestReader::Progress HttpRequestReader::take(boost::beast::flat_buffer& buffer) {
    return head_is_taken_ ? take_body(buffer) : take_head(buffer);
}

HttpRequestReader::Progress HttpRequestReader::take_head(boost::beast::flat_buffer& buffer) {
    if (!scan_head(buffer) || !put(buffer)) return Progress::refused;
    if (!parser_.is_header_done()) return Progress::more;
    if (Fault fault = fault_of(parser_.get())) return refuse(std::move(*fault));
    use_origin_form(parser_.get());
    head_is_taken_ = true;
    if (parser_.chunked()) head_ = parser_.get();
    parser_.eager(true);
    const bool waits = !parser_.is_done() && buffer.size() == 0;
    if (waits && !expectations_of(parser_.get()).empty()) return Progress::wants_continue;
    return take_body(buffer);
}

HttpRequestReader::Progress HttpRequestReader::take_body(boost::beast::flat_buffer& buffer) {
    std::size_t before = 0;
    while (!parser_.is_done() && buffer.size() != before && buffer.size() != 0) {
        before = buffer.size();
        if (!put(buffer)) return Progress::refused;
    }
    if (!parser_.is_done()) return Progress::more;
    drop_trailers();
    return Progress::complete;
}

/// The parser folds lines silently, and limits each input but not the whole head.
bool HttpRequestReader::scan_head(const boost::beast::flat_buffer& buffer) {
    const std::string_view bytes(static_cast<const char*>(buffer.data().data()), buffer.size());
    for (; !head_is_scanned_ && scanned_ < bytes.size(); ++scanned_) {
        const char c = bytes[scanned_];
        if (++head_size_ > head_bytes_) {
            refuse(refusal_of(beast::http::error::header_limit));
            return false;
        }
        if (line_size_ == 0 && (c == ' ' || c == '\t')) {
            refuse({400, "a line of the head must not begin with a blank\n"});
            return false;
        }
        if (c == '\n') {
            head_is_scanned_ = line_size_ == 0;
            line_size_ = 0;
        } else if (c != '\r') {
            ++line_size_;
        }
    }
    return true;
}

/// \returns false for a refused request
bool HttpRequestReader::put(boost::beast::flat_buffer& buffer) {
    boost::system::error_code ec;
    const std::size_t used = parser_.put(buffer.data(), ec);
    buffer.consume(used);
    scanned_ -= std::min(used, scanned_);
    if (!ec || ec == beast::http::error::need_more) return true;
    refuse(refusal_of(ec));
    return false;
}

HttpRequestReader::Progress HttpRequestReader::refuse(HttpRefusal refusal) {
    refusal_ = std::move(refusal);
    return Progress::refused;
}

/// Removes the trailers of a chunked body: a proxy that filters headers may not filter these.
void HttpRequestReader::drop_trailers() {
    if (head_) static_cast<beast::http::fields&>(parser_.get()) = std::move(*head_);
}

}  // namespace http
