// The responses of a hostile proxy. The first byte chooses the protocol, the presence of
// credentials, and the size of the pieces. The same bytes must also be harmless as the URL of a
// proxy and as a NO_PROXY list.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_proxy_response tests/fuzz/corpus/proxy_response

#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/proxy.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/detail/transport/proxy/http_connect.hpp"
#include "k8s_sd/detail/transport/proxy/socks5.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace k8s_sd;
using State = detail::ProxyDialog::State;

void require(bool condition) {
    if (!condition) std::abort();
}

struct Ending {
    State state = State::talking;
    std::string problem;
};

std::unique_ptr<detail::ProxyDialog> make_dialog(bool socks, bool with_login) {
    ProxyTarget proxy;
    if (with_login) proxy.username = proxy.password = "secret";
    if (socks) return std::make_unique<detail::Socks5>(proxy, "api.corp", "443");
    return std::make_unique<detail::HttpConnect>(proxy, "api.corp", "443");
}

Ending play(detail::ProxyDialog& dialog, std::string_view answer, std::size_t piece) {
    while (!answer.empty() && dialog.state() == State::talking) {
        require(dialog.take_output().size() < 1024);
        dialog.feed(answer.substr(0, piece));
        answer.remove_prefix(std::min(piece, answer.size()));
    }
    if (dialog.state() == State::talking) dialog.feed_end();
    const std::string& problem = dialog.problem();
    require(dialog.state() != State::talking);
    require((dialog.state() == State::done) == problem.empty());
    require(problem.size() < 1200 && detail::is_utf8(problem));
    require(std::none_of(problem.begin(), problem.end(), detail::is_control));
    return {dialog.state(), problem};
}

void read_as_configuration(std::string_view text) {
    try {
        const detail::ProxyUrl url = detail::parse_proxy_url(text, "field");
        require(!url.host.empty() && !url.port.empty() && url.port.size() <= 5);
    } catch (const ConfigError& error) {
        require(std::string_view(error.what()).size() < 200);
    }
    (void)detail::is_reached_directly(text, {true, "10.0.0.1", "443"});
    (void)detail::is_reached_directly(text, {true, "api.corp", "443"});
    require(detail::is_reached_directly(text, {true, "localhost", "443"}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bool socks = data[0] & 1U;
    const bool with_login = data[0] & 2U;
    const std::size_t piece = 1U + (data[0] >> 2U);
    const std::string_view answer(reinterpret_cast<const char*>(data + 1), size - 1);
    const Ending pieces = play(*make_dialog(socks, with_login), answer, piece);
    const Ending bytes = play(*make_dialog(socks, with_login), answer, 1);
    // Conversely, bytes after a response are found only if they arrive together with it.
    require(pieces.state != State::done || bytes.state == State::done);
    read_as_configuration(answer);
    return 0;
}
