#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"

#include <cstddef>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Collects a whole response with possible secrets.
class ResponseCollector final : public ResponseSink {
 public:
    /// \param max_bytes  limit of the body; more is an error
    explicit ResponseCollector(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    void on_head(const ResponseHead& head) override { head_ = head; }
    error_code on_body(std::string_view bytes) override {
        if (body_.size() + bytes.size() > max_bytes_) return errc::object_too_large;
        body_.insert(body_.end(), bytes.begin(), bytes.end());
        return {};
    }

    const ResponseHead& head() const noexcept { return head_; }
    std::string_view body() const noexcept { return {body_.data(), body_.size()}; }

 private:
    const std::size_t max_bytes_;
    ResponseHead head_;
    CleansedBytes body_;
};

}  // namespace k8s_sd::inline v0::detail
