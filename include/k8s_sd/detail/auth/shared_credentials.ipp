#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/auth/shared_credentials.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// One client's access to shared credentials. The shared part holds a weak reference to the
/// handler; this object owns it.
class CredentialCounter final : public CredentialSource {
 public:
    CredentialCounter(asio::any_io_executor strand, std::shared_ptr<StrandCredentials> shared)
        : strand_(std::move(strand)), shared_(std::move(shared)) {}

    void async_get(Refused refused, Handler handler) override {
        waiting_ = std::make_shared<Handler>(std::move(handler));
        // Counts as work of the client's context until the handler is called.
        auto back = asio::prefer(strand_, asio::execution::outstanding_work.tracked);
        auto deliver = [back, weak = std::weak_ptr(waiting_)](
                           const std::shared_ptr<const RequestCredentials>& answer) {
            asio::post(back, [weak, answer] {
                const auto waiting = weak.lock();
                if (waiting) std::exchange(*waiting, nullptr)(*answer);
            });
        };
        asio::post(shared_->strand,
                   [shared = shared_, refused = std::move(refused), deliver = std::move(deliver)] {
                       shared->credentials->async_get(refused, deliver);
                   });
    }

 private:
    asio::any_io_executor strand_;
    std::shared_ptr<StrandCredentials> shared_;
    std::shared_ptr<Handler> waiting_;
};

asio::execution_context::id SharedCredentials::id;

std::shared_ptr<StrandCredentials> SharedCredentials::acquire(const asio::any_io_executor& executor,
                                                              const Issuer& issuer,
                                                              const Make& make) {
    const std::lock_guard lock(mutex_);
    if (auto shared = issuers_.find(issuer)) return shared;
    const asio::any_io_executor strand = make_own_strand(executor);
    auto shared = std::make_unique<StrandCredentials>(StrandCredentials{strand, make(strand)});
    // The credentials own timers and sockets of the strand, so they are always destroyed there.
    return issuers_.add(issuer, std::move(shared), [strand](StrandCredentials* last) {
        asio::dispatch(strand, [owned = std::unique_ptr<StrandCredentials>(last)] {});
    });
}

std::unique_ptr<CredentialSource> SharedCredentials::source(const asio::any_io_executor& strand,
                                                            const Issuer& issuer,
                                                            const Make& make) {
    auto& context = asio::query(strand, asio::execution::context);
    auto shared = asio::use_service<SharedCredentials>(context).acquire(strand, issuer, make);
    return std::make_unique<CredentialCounter>(strand, std::move(shared));
}

}  // namespace k8s_sd::inline v0::detail
