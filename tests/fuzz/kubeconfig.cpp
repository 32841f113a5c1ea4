// Untrusted kubeconfigs. A line "=====" separates two files; a last line "#context NAME" chooses
// the context.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_kubeconfig -max_total_time=60 tests/fuzz/corpus/kubeconfig

#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"

#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace k8s_sd;

void require(bool condition) {
    if (!condition) std::abort();
}

bool is_c_text(const std::string& text) { return text.find('\0') == std::string::npos; }

void check_exec(const ExecConfig& exec) {
    require(!exec.command.empty() && is_c_text(exec.command) && !exec.api_version.empty());
    require(exec.interactive_mode != ExecConfig::InteractiveMode::always);
    require(std::all_of(exec.args.begin(), exec.args.end(), is_c_text));
    for (const ExecConfig::Variable& variable : exec.env) {
        require(!variable.name.empty() && variable.name.find('=') == std::string::npos);
        require(is_c_text(variable.name) && is_c_text(variable.value));
    }
}

/// Invariants other code relies on.
void check(const ApiServerConfig& server) {
    const detail::ServerUrl url = detail::parse_server_url(server.url, false);
    require(to_string(url) == server.url);
    const AuthConfig& auth = server.auth;
    if (!url.tls) require(auth == AuthConfig{} && server.tls == TlsConfig{});
    const int ways = !auth.bearer_token.empty() + !auth.bearer_token_file.empty() +
                     !auth.username.empty() + auth.exec.has_value();
    require(ways <= 1);
    for (const std::string* text :
         {&auth.bearer_token, &auth.username, &auth.password, &server.impersonate.user,
          &server.impersonate.uid, &server.tls.server_name}) {
        require(detail::is_header_text(*text));
    }
    if (auth.exec) check_exec(*auth.exec);
    require(server.tls.ca.empty() || server.tls.ca_file.empty());
    require((server.tls.cert + server.tls.cert_file).empty() ==
            (server.tls.key + server.tls.key_file).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    std::string context;
    if (const std::size_t at = bytes.rfind("#context "); at != std::string_view::npos) {
        context = bytes.substr(at + 9);
        bytes = bytes.substr(0, at);
    }
    std::vector<detail::KubeconfigFile> files;
    if (const std::size_t at = bytes.find("=====\n"); at != std::string_view::npos) {
        files.push_back({"/a/first", bytes.substr(0, at)});
        bytes.remove_prefix(at + 6);
    }
    files.push_back({"second", bytes});
    try {
        check(detail::read_kubeconfig(files, context));
    } catch (const ConfigError&) {
        // An error is the only acceptable failure.
    }
    return 0;
}
