
#include "k8s_sd/detail/net/tls_peer.hpp"

#include <boost/asio/ip/address.hpp>
#include <openssl/x509v3.h>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

namespace ip = boost::asio::ip;

std::string_view bytes_of(const ASN1_STRING* string) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
            static_cast<std::size_t>(ASN1_STRING_length(string))};
}

template <class Address>
std::string address_text(std::string_view bytes) {
    typename Address::bytes_type raw;
    std::memcpy(raw.data(), bytes.data(), raw.size());
    return Address(raw).to_string();
}

/// The peer wrote it: at most 100 printable characters reach a text.
std::string peer_text(std::string_view name) {
    std::string result;
    for (const char c : name.substr(0, 100)) result += c > 0x20 && c < 0x7f ? c : '?';
    return result;
}

std::string name_text(const GENERAL_NAME& name) {
    if (name.type == GEN_DNS) return peer_text(bytes_of(name.d.dNSName));
    if (name.type != GEN_IPADD) return {};
    const std::string_view bytes = bytes_of(name.d.iPAddress);
    if (bytes.size() == 4) return address_text<ip::address_v4>(bytes);
    if (bytes.size() == 16) return address_text<ip::address_v6>(bytes);
    return {};
}

struct FreeNames {
    void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};

/// The first few names of a certificate.
std::string names_text(const X509* certificate) {
    constexpr std::size_t max_names = 5;
    const std::unique_ptr<GENERAL_NAMES, FreeNames> names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
    std::string result;
    std::size_t count = 0;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const std::string text = name_text(*sk_GENERAL_NAME_value(names.get(), i));
        if (text.empty()) continue;
        if (++count > max_names) return result + ", ...";
        if (!result.empty()) result += ", ";
        result += text;
    }
    return result.empty() ? "no name at all" : result;
}

bool is_about_trust(int error) {
    switch (error) {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_UNTRUSTED: return true;
        default: return false;
    }
}

bool expect_address(X509_VERIFY_PARAM* param, const ip::address& address) {
    const auto expect = [param](const auto& bytes) {
        return X509_VERIFY_PARAM_set1_ip(param, bytes.data(), bytes.size()) == 1;
    };
    return address.is_v4() ? expect(address.to_v4().to_bytes())
                           : expect(address.to_v6().to_bytes());
}

}  // namespace

bool expect_peer(SSL* ssl, std::string name) {
    X509_VERIFY_PARAM* const param = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    boost::system::error_code not_an_address;
    const auto address = ip::make_address(name, not_an_address);
    if (!not_an_address) return expect_address(param, address);
    if (name.ends_with('.')) name.pop_back();  // neither SNI nor certificates have the root's dot
    // OpenSSL takes an empty name as "do not verify".
    return !name.empty() && SSL_set_tlsext_host_name(ssl, name.c_str()) == 1 &&
           X509_VERIFY_PARAM_set1_host(param, name.data(), name.size()) == 1;
}

std::string explain_rejection(X509_STORE_CTX* context, const std::string& name) {
    const int error = X509_STORE_CTX_get_error(context);
    const X509* const certificate = X509_STORE_CTX_get_current_cert(context);
    const bool wrong_name =
        error == X509_V_ERR_HOSTNAME_MISMATCH || error == X509_V_ERR_IP_ADDRESS_MISMATCH;
    if (wrong_name && certificate) {
        return "certificate is for " + names_text(certificate) + ", not for " + name;
    }
    const std::string reason = X509_verify_cert_error_string(error);
    if (is_about_trust(error)) {
        return "certificate of " + name + " is not trusted: " + reason + " (check the CA file)";
    }
    return "certificate of " + name + " is not valid: " + reason;
}

}  // namespace k8s_sd::inline v0::detail
