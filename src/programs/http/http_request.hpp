#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <optional>
#include <string>

namespace http {

/// The reason for refusing a request before a handler sees it. The connection ends after the
/// response.
struct HttpRefusal {
    unsigned status;
    std::string text;
};

/// Reads one request from the bytes of a connection. Refuses every request a proxy could interpret
/// differently: RFC 9112, sections 3.2, 5.2, 6.1 and 6.3.
class HttpRequestReader {
 public:
    using Message = boost::beast::http::request<boost::beast::http::string_body>;

    enum class Progress {
        more,            ///< further bytes are needed
        wants_continue,  ///< the client sends the body after 100 (Continue); reported once
        complete,        ///< message() is the request
        refused,         ///< refusal() is the reason
    };

    HttpRequestReader(std::size_t head_bytes, std::size_t body_bytes);

    /// Takes the bytes of the request from the buffer. Not after `complete` or `refused`.
    Progress take(boost::beast::flat_buffer&);

    /// The target has the origin form; the authority of an absolute one is in Host. Fields after a
    /// chunked body are omitted.
    const Message& message() const { return parser_.get(); }
    const HttpRefusal& refusal() const { return refusal_; }

 private:
    Progress take_head(boost::beast::flat_buffer&);
    Progress take_body(boost::beast::flat_buffer&);
    bool scan_head(const boost::beast::flat_buffer&);
    bool put(boost::beast::flat_buffer&);
    Progress refuse(HttpRefusal);
    void drop_trailers();

    const std::size_t head_bytes_;
    boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
    HttpRefusal refusal_{};
    std::size_t head_size_ = 0;     // scanned bytes
    std::size_t scanned_ = 0;       // scanned bytes of the head still in the buffer
    std::size_t line_size_ = 0;     // of the line being scanned, without its end
    bool head_is_scanned_ = false;  // to its end
    bool head_is_taken_ = false;
    std::optional<boost::beast::http::fields> head_;  // if fields may follow the body
};

}  // namespace http
