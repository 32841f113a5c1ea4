#pragma once

#include "k8s_sd/error.hpp"

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// The handler of a running operation, with tracked work for its executor.
template <class... Results>
class Operation {
 public:
    using Handler = asio::any_completion_handler<void(error_code, Results...)>;

    /// \param owner  its cancel() is called on cancellation through the handler's slot
    template <class Owner>
    Operation(Handler handler, const asio::any_io_executor& host, std::weak_ptr<Owner> owner)
        : host_(host),
          executor_(asio::get_associated_executor(handler, asio::any_completion_executor(host))),
          work_(asio::prefer(executor_, asio::execution::outstanding_work.tracked)),
          handler_(std::move(handler)) {
        if (!slot().is_connected()) return;
        slot().assign([owner = std::move(owner)](asio::cancellation_type type) {
            using enum asio::cancellation_type;
            if ((type & (terminal | partial)) == none) return;
            if (const auto alive = owner.lock()) alive->cancel();
        });
    }

    static void complete(std::unique_ptr<Operation> operation, error_code ec, Results... results) {
        const Operation& posted = *operation;
        posted.post([op = std::move(operation), ec, ... results = std::move(results)]() mutable {
            complete_here(std::move(op), ec, std::move(results)...);
        });
    }
    /// The same, but without memory for the handler the operation stays with the caller.
    /// \throws std::bad_alloc
    static void complete_or_keep(std::unique_ptr<Operation>& operation, error_code ec,
                                 Results... results) {
        const auto posted = std::make_shared<std::unique_ptr<Operation>>();
        const Poster post = operation->poster();
        posted->swap(operation);
        try {
            post([posted, ec, ... results = std::move(results)]() mutable {
                complete_here(std::move(*posted), ec, std::move(results)...);
            });
        } catch (...) {
            posted->swap(operation);
            throw;
        }
    }
    /// Completes the operation from within post().
    static void complete_here(std::unique_ptr<Operation> operation, error_code ec,
                              Results... results) {
        operation->slot().clear();
        Handler handler = std::move(operation->handler_);
        operation.reset();
        std::move(handler)(ec, std::move(results)...);
    }
    /// Calls functions on the executor of the handler, also when the operation has ended.
    struct Poster {
        asio::any_io_executor host;
        asio::any_completion_executor executor;

        template <class Function>
        void operator()(Function function) const {
            asio::post(host, asio::bind_executor(executor, std::move(function)));
        }
    };
    Poster poster() const { return {host_, executor_}; }
    /// Calls the function on the executor of the handler.
    template <class Function>
    void post(Function function) const {
        const Poster copy = poster();  // the function may own the operation
        copy(std::move(function));
    }

 private:
    asio::cancellation_slot slot() const noexcept {
        return asio::get_associated_cancellation_slot(handler_);
    }

    asio::any_io_executor host_;
    asio::any_completion_executor executor_;
    asio::any_completion_executor work_;
    Handler handler_;
};

/// An async_run().
using RunOperation = Operation<>;

/// \throws ConfigError for an executor without a context
inline void check_host_executor(const boost::asio::any_io_executor& executor, const char* what) {
    if (executor) return;
    throw ConfigError(what, "the executor is empty; pass that of an io_context or thread_pool, "
                            "for example context.get_executor()");
}

/// \throws ConfigError for a std::function without a target
template <class Callback>
void check_callback(const Callback& callback, const char* what) {
    if (callback) return;
    throw ConfigError(what, "the callback is empty; pass a function to call");
}

}  // namespace k8s_sd::inline v0::detail
