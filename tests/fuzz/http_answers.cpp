// The parts of responses that this library parses itself: the end of a head, chunks, and errors
// without a Status. The result does not depend on the chunking.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_http_answers -max_total_time=60 CORPUS

#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/detail/transport/chunked_body.hpp"
#include "k8s_sd/detail/transport/foreign_error.hpp"
#include "k8s_sd/detail/transport/response_head_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace k8s_sd::detail;

void require(bool condition) {
    if (!condition) std::abort();
}

struct Body {
    std::string data;
    bool done = false;
    k8s_sd::error_code ec;
    bool operator==(const Body&) const = default;
};

Body read_chunks(std::string_view text, std::size_t piece) {
    ChunkedBody chunks;
    Body body;
    std::string waiting;
    while (!text.empty() && !chunks.done() && !body.ec) {
        waiting += text.substr(0, piece);
        text.remove_prefix(std::min(piece, text.size()));
        const auto sink = [&](std::string_view data) {
            body.data += data;
            return k8s_sd::error_code();
        };
        waiting.erase(0, chunks.put(waiting, sink, body.ec));
    }
    body.done = chunks.done();
    return body;
}

std::size_t end_of_head(std::string_view text, std::size_t piece) {
    HeadEnd end;
    for (std::size_t come = std::min(piece, text.size());; come += piece) {
        const std::size_t found = end.find(text.substr(0, come));
        if (found != 0 || come >= text.size()) return found;
    }
}

void check_head(std::string_view text) {
    const std::size_t size = end_of_head(text, text.size() + 1);
    require(size == end_of_head(text, 1) && size == end_of_head(text, 3));
    if (size == 0) return;
    const auto mended = mend_head(text.substr(0, size));
    if (!mended) return;
    // No byte is left that another parser could take for a line end.
    require(!mend_head(*mended));
    require(HeadEnd().find(*mended) == mended->size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_head(text);
    const std::size_t head = end_of_head(text, text.size() + 1);
    for (const std::string_view body : {text, text.substr(head)}) {
        const Body whole = read_chunks(body, body.size() + 1);
        require(whole == read_chunks(body, 1) && whole == read_chunks(body, 7));
        require(whole.data.size() <= body.size());
    }
    const std::string error = printable(read_foreign_error(text));
    require(is_utf8(error) && error.size() < 410);
    require(std::none_of(error.begin(), error.end(), is_control));
    return 0;
}
