
#include "k8s_sd/detail/transport/tls/tls_peer.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <cstring>
#include <ctime>
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

/// Sanitizes the peer's text: at most 100 printable characters.
std::string peer_text(std::string_view name) {
    std::string result;
    for (const char c : name.substr(0, 100)) result += c >= 0x20 && c < 0x7f ? c : '?';
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

std::string entry_text(const X509_NAME* name, int nid) {
    const int index = X509_NAME_get_index_by_NID(name, nid, -1);
    if (index < 0) return {};
    const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index));
    return peer_text(bytes_of(value));
}

/// "CN=name", or another part of the name.
std::string name_text(const X509_NAME* name) {
    if (const std::string common = entry_text(name, NID_commonName); !common.empty()) {
        return "CN=" + common;
    }
    const std::string organisation = entry_text(name, NID_organizationName);
    return organisation.empty() ? "without a name" : "O=" + organisation;
}

/// "2026-01-02 03:04 UTC"
std::string time_text(const std::tm& time) {
    char text[32];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &time);
    return {text, size};
}

std::string time_text(const ASN1_TIME* time) {
    std::tm parts{};
    if (!time || ASN1_TIME_to_tm(time, &parts) != 1) return "a time that cannot be read";
    return time_text(parts);
}

std::string ask_for_clock() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    return "is this machine's clock right? It says " + time_text(parts);
}

/// Locks the store, because connections on other threads use it.
int certificates_in(X509_STORE* store) {
    if (X509_STORE_lock(store) != 1) return 0;
    int count = 0;
    const auto* objects = X509_STORE_get0_objects(store);
    for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
        if (X509_OBJECT_get_type(sk_X509_OBJECT_value(objects, i)) == X509_LU_X509) ++count;
    }
    X509_STORE_unlock(store);
    return count;
}

/// "none of the 2 certificates of CA file x"
std::string none_of(X509_STORE_CTX* context, const ExpectedPeer& expected) {
    const std::string trust =
        expected.trust.empty() ? std::string("the trusted certificates") : expected.trust;
    // A store with many files is loaded on demand.
    const int count = trust.find("system") != std::string::npos
                          ? 0
                          : certificates_in(X509_STORE_CTX_get0_store(context));
    if (count == 0) return "none of " + trust;
    return count == 1 ? "not the one of " + trust
                      : "none of the " + std::to_string(count) + " of " + trust;
}

std::string name_remedy(const ExpectedPeer& expected) {
    return expected.is_proxy ? "; put one of its names into the proxy's URL"
                             : "; is it the right server? Then set server_name (in a kubeconfig "
                               "tls-server-name) to one of its names";
}

std::string trust_remedy(const ExpectedPeer& expected) {
    return expected.trust.find("CA") == std::string::npos
               ? "; configure the CA that signs it (ca_file)"
               : "; is it the CA of this server?";
}

std::string certificate_of(const X509* certificate, const ExpectedPeer& expected) {
    return "certificate of " + (expected.is_proxy ? "the proxy " + expected.name : expected.name) +
           " (" + name_text(X509_get_subject_name(certificate)) + ")";
}

/// Explains a certificate without a path to a trusted one.
std::string explain_distrust(X509_STORE_CTX* context, const X509* certificate,
                             const ExpectedPeer& expected) {
    const int depth = X509_STORE_CTX_get_error_depth(context);
    const auto* chain = X509_STORE_CTX_get0_chain(context);
    const X509* leaf = sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : certificate;
    const std::string issuer = name_text(X509_get_issuer_name(certificate));
    const std::string who = certificate_of(leaf, expected) + " is not trusted: ";
    const std::string trusted = none_of(context, expected) + trust_remedy(expected);
    switch (X509_STORE_CTX_get_error(context)) {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return who + "it is self-signed, and " + trusted;
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            return who + "its chain ends with " + issuer + ", which is " + trusted;
        default: break;
    }
    return who + (depth > 0 ? "its chain ends with one signed by " : "it is signed by ") + issuer +
           ", which is " + trusted;
}

bool is_for_any_use(X509* certificate, int depth) {
    if ((X509_get_extended_key_usage(certificate) & XKU_ANYEKU) == 0) return false;
    if (depth > 0) return X509_check_ca(certificate) > 0;
    return (X509_get_key_usage(certificate) &
            (KU_DIGITAL_SIGNATURE | KU_KEY_ENCIPHERMENT | KU_KEY_AGREEMENT)) != 0;
}

bool has_enough_key(const X509_STORE_CTX* context, const X509* certificate) {
    const int level = X509_VERIFY_PARAM_get_auth_level(X509_STORE_CTX_get0_param(context));
    const EVP_PKEY* const key = X509_get0_pubkey(certificate);
    return level <= max_relaxed_level && key &&
           EVP_PKEY_get_security_bits(key) >= min_key_security_bits;
}

template <class Bytes>
bool is_for(X509* certificate, const Bytes& address) {
    return X509_check_ip(certificate, address.data(), address.size(), 0) == 1;
}

/// 192.0.2.1 and ::ffff:192.0.2.1 are the same address.
bool is_for_mapped_address(const X509_STORE_CTX* context, X509* certificate) {
    struct FreeText {
        void operator()(char* text) const noexcept { OPENSSL_free(text); }
    };
    const std::unique_ptr<char, FreeText> text(
        X509_VERIFY_PARAM_get1_ip_asc(X509_STORE_CTX_get0_param(context)));
    boost::system::error_code not_an_address;
    const auto address = ip::make_address(text ? text.get() : "", not_an_address);
    if (not_an_address) return false;
    if (address.is_v4()) {
        return is_for(certificate, ip::make_address_v6(ip::v4_mapped, address.to_v4()).to_bytes());
    }
    const ip::address_v6 wide = address.to_v6();
    return wide.is_v4_mapped() &&
           is_for(certificate, ip::make_address_v4(ip::v4_mapped, wide).to_bytes());
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
    if (name.ends_with('.')) name.pop_back();  // SNI and certificates omit the root's dot
    // For OpenSSL, an empty name means "do not verify".
    return !name.empty() && SSL_set_tlsext_host_name(ssl, name.c_str()) == 1 &&
           X509_VERIFY_PARAM_set1_host(param, name.data(), name.size()) == 1;
}

bool is_taken_by_go(X509_STORE_CTX* context) {
    X509* const certificate = X509_STORE_CTX_get_current_cert(context);
    if (!certificate) return false;
    switch (X509_STORE_CTX_get_error(context)) {
        case X509_V_ERR_INVALID_PURPOSE:
            return is_for_any_use(certificate, X509_STORE_CTX_get_error_depth(context));
        case X509_V_ERR_EE_KEY_TOO_SMALL:
        case X509_V_ERR_CA_KEY_TOO_SMALL: return has_enough_key(context, certificate);
        case X509_V_ERR_IP_ADDRESS_MISMATCH: return is_for_mapped_address(context, certificate);
        default: return false;
    }
}

std::string explain_rejection(X509_STORE_CTX* context, const ExpectedPeer& expected) {
    const int error = X509_STORE_CTX_get_error(context);
    const X509* const certificate = X509_STORE_CTX_get_current_cert(context);
    const std::string reason = X509_verify_cert_error_string(error);
    if (!certificate) return "certificate of " + expected.name + " is not valid: " + reason;
    switch (error) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "certificate is for " + names_text(certificate) + ", not for " +
                   (expected.is_proxy ? "the proxy " : "") + expected.name + name_remedy(expected);
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return certificate_of(certificate, expected) + " expired " +
                   time_text(X509_get0_notAfter(certificate)) + "; " + ask_for_clock();
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return certificate_of(certificate, expected) + " is not valid before " +
                   time_text(X509_get0_notBefore(certificate)) + "; " + ask_for_clock();
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_UNTRUSTED: return explain_distrust(context, certificate, expected);
        default: return certificate_of(certificate, expected) + " is not valid: " + reason;
    }
}

std::string versions_of(const SSL* session) {
    const auto text = [](long version) { return version == TLS1_3_VERSION ? "1.3" : "1.2"; };
    auto* const ssl = const_cast<SSL*>(session);  // OpenSSL's macros are not const-correct
    const long min = SSL_get_min_proto_version(ssl);
    const long max = SSL_get_max_proto_version(ssl);
    return min == max ? text(min) : std::string(text(min)) + " to " + text(max);
}

std::string explain_tls_error(const error_code& ec, bool shows_certificate,
                              const std::string& versions) {
    if (ec.category() != boost::asio::error::get_ssl_category()) return {};
    const auto verdict = [&](const std::string& why) {
        return shows_certificate ? "does not accept the client certificate: " + why
                                 : "demands a client certificate (cert_file and key_file): " + why;
    };
    switch (ERR_GET_REASON(static_cast<unsigned long>(ec.value()))) {
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_HTTP_REQUEST: return "does not speak TLS; should the URL start with http://?";
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
        case SSL_R_UNSUPPORTED_PROTOCOL:
            return "does not speak TLS " + (versions.empty() ? "1.2 or later" : versions) +
                   ", which min_version and max_version allow";
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return verdict("none was shown");
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE: return verdict("it is bad");
        case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: return verdict("it is of a wrong kind");
        case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED: return verdict("it was revoked");
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED: return verdict("it has expired");
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN: return verdict("it cannot be checked");
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
            return verdict("it is signed by a CA that is unknown there");
        case SSL_R_TLSV1_ALERT_ACCESS_DENIED: return verdict("access denied");
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
            // Before TLS 1.3, this alert also reports a missing client certificate.
            return "refuses the handshake: a client certificate may be missing, or there is no "
                   "common cipher";
        case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
            return "offers no HTTP/1.1, perhaps HTTP/2 only; enable HTTP/1.1 there";
        case SSL_R_TLSV1_UNRECOGNIZED_NAME:
            return "does not know the requested name; set server_name";
        default: return {};
    }
}

}  // namespace k8s_sd::inline v0::detail
