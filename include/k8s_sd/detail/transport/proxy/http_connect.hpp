#pragma once

#include "k8s_sd/detail/transport/proxy/proxy_dialog.hpp"
#include "k8s_sd/environment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// HTTP CONNECT: RFC 9110 9.3.6. A response head is limited to 64 KiB. Error texts quote at most
/// 200 characters of a refusal's body, from the part received with the head.
class HttpConnect final : public ProxyDialog {
 public:
    /// \param host  of the server; name or IP literal without brackets
    HttpConnect(const ProxyTarget&, const std::string& host, const std::string& port);
    void feed(std::string_view bytes) override;

 private:
    void read_head(std::string_view head, std::string_view rest);
    void judge(unsigned status, std::string_view head, std::string_view rest);
    std::string credentials_problem(unsigned status, std::string_view head) const;

    const std::string server_;  ///< host and port
    const bool has_credentials_;
    CleansedBytes received_;    ///< may contain echoed credentials
    std::size_t searched_ = 0;  ///< the head ends at or after this index
    int interim_heads_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
