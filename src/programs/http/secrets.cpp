#include "http/secrets.hpp"

#include "cli/terminal_text.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace http {

std::string read_small_file(const std::string& path) {
    constexpr std::size_t max_bytes = std::size_t{1} << 20;
    const auto refuse = [&](const std::string& reason) {
        throw std::runtime_error("cannot read " + cli::printable(path, 1000) + ": " + reason);
    };
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (exists(status) && !is_regular_file(status)) refuse("it is not a regular file");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text(max_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.eof() && file.gcount() == 0) refuse(std::strerror(errno != 0 ? errno : EIO));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > max_bytes) refuse("it is larger than a megabyte");
    return text;
}

Digest digest_of(std::string_view text) {
    Digest digest;
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    return digest;
}

bool same_secret(const Digest& a, const Digest& b) {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void forget(std::string& secret) {
    OPENSSL_cleanse(secret.data(), secret.size());
    secret.clear();
}

}  // namespace http
