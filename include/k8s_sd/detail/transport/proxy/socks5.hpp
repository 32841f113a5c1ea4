#pragma once

#include "k8s_sd/detail/transport/proxy/proxy_dialog.hpp"
#include "k8s_sd/environment.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// SOCKS5: RFC 1928, with user and password of RFC 1929. Sends host names unresolved, and IP
/// literals as addresses.
class Socks5 final : public ProxyDialog {
 public:
    /// \param host  of the server; name or IP literal without brackets
    Socks5(const ProxyTarget&, const std::string& host, const std::string& port);
    void feed(std::string_view bytes) override;

 private:
    /// Parses the expected message.
    /// \return its size; zero: incomplete
    std::size_t read_message(std::string_view bytes);
    std::size_t read_method(std::string_view bytes);
    std::size_t read_verdict(std::string_view bytes);
    std::size_t read_reply(std::string_view bytes);
    void refuse(unsigned code);

    const std::string server_;  ///< host and port
    CleansedBytes login_;       ///< message with the credentials; empty: none
    CleansedBytes request_;
    enum class Expected : std::uint8_t { method, verdict, reply };
    Expected expected_ = Expected::method;
    std::string received_;
};

}  // namespace k8s_sd::inline v0::detail
