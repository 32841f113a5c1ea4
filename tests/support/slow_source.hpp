#pragma once

#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/base/secrets.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::test {

/// Credentials that arrive on the test's command.
class SlowSource final : public detail::CredentialSource {
 public:
    /// The test's part; the source itself belongs to its user.
    struct Control {
        int asked = 0;
        bool alive = true;
        std::function<void()> before;  ///< called at the start of each request; may throw
        Handler waiting;               ///< empty: no caller waits

        void answer(detail::RequestCredentials authorization) {
            std::exchange(waiting, nullptr)(std::move(authorization));
        }
        void answer(std::string_view value, std::optional<TimePoint> expiry = {}) {
            detail::RequestCredentials authorization;
            detail::append(authorization.value, value);
            authorization.expiry = expiry;
            answer(std::move(authorization));
        }
        void fail(std::string problem) {
            detail::RequestCredentials authorization;
            authorization.ec = errc::credentials_unavailable;
            authorization.problem = std::move(problem);
            answer(std::move(authorization));
        }
    };

    explicit SlowSource(std::shared_ptr<Control> control) : control_(std::move(control)) {}
    ~SlowSource() override {
        control_->alive = false;
        control_->waiting = nullptr;
    }
    void async_get(Refused, Handler handler) override {
        ++control_->asked;
        if (control_->before) control_->before();
        control_->waiting = std::move(handler);
    }

 private:
    std::shared_ptr<Control> control_;
};

}  // namespace k8s_sd::test
