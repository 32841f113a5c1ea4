#include "k8s_sd/detail/auth/header_files.hpp"
#include "k8s_sd/detail/base/secret_file.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// The refused credentials as issued by the wrapped source.
CredentialSource::Refused without_headers(const CredentialSource::Refused& refused) {
    if (!refused || refused->headers.empty()) return refused;
    auto own = std::make_shared<RequestCredentials>(*refused);
    own->headers.clear();
    return own;
}

}  // namespace

HeaderFiles::HeaderFiles(std::unique_ptr<CredentialSource> source,
                         const std::vector<HttpHeader>& headers, asio::any_io_executor strand,
                         std::shared_ptr<Clock> clock, std::shared_ptr<FileCalls> calls,
                         Logger logger)
    : source_(std::move(source)),
      values_(std::move(strand), std::move(clock), std::move(calls), std::move(logger)) {
    for (const HttpHeader& header : headers) {
        names_.push_back(header.name);
        values_.add("header " + header.name, header.value, header.file);
    }
}

void HeaderFiles::async_get(Refused refused, Handler handler) {
    source_->async_get(without_headers(refused), [this, handler = std::move(handler)](
                                                     RequestCredentials credentials) {
        if (credentials.ec) return handler(std::move(credentials));
        values_.async_read([this, handler, credentials] { handler(with_headers(credentials)); });
    });
}

RequestCredentials HeaderFiles::with_headers(RequestCredentials credentials) const {
    if (!values_.complete()) {
        RequestCredentials none;
        none.ec = errc::credentials_unavailable;
        none.problem = values_.problem();
        return none;
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
        append(credentials.headers, names_[i]);
        append(credentials.headers, ": ");
        append(credentials.headers, values_[i]);
        append(credentials.headers, "\r\n");
    }
    if (credentials.problem.empty()) credentials.problem = values_.problem();
    const auto expiry = values_.expiry();
    if (expiry) credentials.expiry = std::min(credentials.expiry.value_or(*expiry), *expiry);
    return credentials;
}

}  // namespace k8s_sd::inline v0::detail
