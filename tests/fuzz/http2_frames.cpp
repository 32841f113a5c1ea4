// The bytes of an HTTP/2 server: the session neither crashes nor reports an event of a stream that
// has ended, its output is bounded, and the responses do not depend on the chunking. Only the
// number of CONTINUATION frames until the end of the session does: nghttp2 counts pieces of them.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_http2_frames -max_total_time=60 CORPUS

#include "k8s_sd/detail/transport/http2/http2_session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace {

using namespace k8s_sd::detail;

constexpr std::size_t max_output = 1 << 20;

void require(bool condition) {
    if (!condition) std::abort();
}

/// The responses to three requests, one of them cancelled after its first event.
class Responses {
 public:
    explicit Responses(Http2Session& session) : session_(session) {
        for (int i = 0; i < 3; ++i) {
            open_.insert(session.open("GET / HTTP/1.1\r\nHost: s\r\nAuthorization: x\r\n\r\n"));
        }
        flush();
    }
    void receive(std::string_view bytes, std::size_t piece) {
        while (!bytes.empty() && !session_.state().ended) {
            session_.feed(bytes.substr(0, piece), {});
            read();
            flush();
            bytes.remove_prefix(std::min(piece, bytes.size()));
        }
    }
    std::map<std::int32_t, std::string> texts;  ///< heads, bodies and ends by stream

 private:
    void read() {
        while (const auto event = session_.next()) {
            require(open_.contains(event->stream));
            take(*event, texts[event->stream]);
            if (event->kind == Http2Event::Kind::end) {
                open_.erase(event->stream);
            } else if (event->stream == 5) {
                session_.cancel(5);
                open_.erase(5);
            }
        }
    }
    static void take(const Http2Event& event, std::string& to) {
        if (event.kind == Http2Event::Kind::head) {
            to += 'h' + std::to_string(event.head.status) + event.head.content_type.text();
        } else if (event.kind == Http2Event::Kind::body) {
            to += event.bytes;
        } else {
            to += 'e' + std::to_string(static_cast<int>(event.end.kind));
        }
    }
    void flush() {
        CleansedBytes output;
        session_.append_output(output, max_output);
        require(output.size() < max_output);
        read();
    }

    Http2Session& session_;
    std::set<std::int32_t> open_;
};

std::string read_first(std::string_view bytes, std::size_t piece) {
    const auto session = make_http2_session();
    if (!session) return {};
    Responses responses(*session);
    responses.receive(bytes, piece);
    return responses.texts[1];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    read_first(bytes, bytes.size() + 1);
    // Larger pieces hold several frames, processed before the answer to the first one is sent.
    const std::string a = read_first(bytes, 1);
    const std::string b = read_first(bytes, 7);
    require(a.starts_with(b) || b.starts_with(a));
    return 0;
}
