// The credentials printed by a program: reads them, and checks every message for parts that may be
// secret.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_exec_credential -max_total_time=60 CORPUS

#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/rfc3339.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

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

void check(const IssuedCredentials& issued) {
    const bool failed = !issued.problem.empty();
    require(failed == (issued.token.empty() && !issued.identity));
    require(is_utf8(issued.problem) && issued.problem.size() < 1000);
    require(std::none_of(issued.problem.begin(), issued.problem.end(), is_control));
    require(std::none_of(issued.token.begin(), issued.token.end(),
                         [](char c) { return is_control(c) && c != '\t'; }));
    if (issued.identity)
        require(!issued.identity->certificate.empty() && !issued.identity->key.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view output(reinterpret_cast<const char*>(data), size);
    for (const char* version :
         {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
        check(read_exec_credential(output, version));
    }
    (void)read_rfc3339(output);
    require(redact_tokens(output).size() <= output.size() + 10);
    ExecCluster cluster;
    cluster.server = cluster.extension = output;
    (void)make_exec_info(std::string(output), &cluster);
    return 0;
}
