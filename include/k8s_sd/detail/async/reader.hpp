#pragma once

#include "k8s_sd/detail/async/operation.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A pending read of one diff.
template <class Diff>
class Reader {
 public:
    /// The handle with the pending read.
    class Owner {
     public:
        virtual void stop_reading(const Reader&) noexcept = 0;

     protected:
        ~Owner() = default;
    };

    virtual ~Reader() = default;
    /// Cancellation through the operation's slot calls stop_reading() of the owner.
    virtual void set_owner(std::weak_ptr<Owner>) = 0;
    /// Calls the function on the executor of the handler, as if by post.
    virtual void post(std::function<void()>) = 0;
    /// Makes the result of a diff. If it throws, the read is still pending.
    virtual void prepare(const Diff&) = 0;
    /// Completes the operation with the prepared result, from within post().
    virtual void finish_here() = 0;
    /// Completes the operation without a diff, as if by post. If it throws, the read is still
    /// pending.
    virtual void fail(error_code) = 0;

    std::shared_ptr<Reader> next_to_end;  ///< a list of its owner; needs no memory
};

/// An async_next() that completes with a Result.
template <class Diff, class Result>
class NextOperation final : public Reader<Diff> {
 public:
    using Owner = typename Reader<Diff>::Owner;
    using Handler = typename Operation<Result>::Handler;
    using Convert = Result (*)(const Diff&);

    NextOperation(Handler handler, const asio::any_io_executor& host, Convert convert)
        : convert_(convert),
          slot_(std::make_shared<Slot>(*this)),
          operation_(std::make_unique<Operation<Result>>(std::move(handler), host,
                                                         std::weak_ptr<Slot>(slot_))),
          post_(operation_->poster()) {}

    void set_owner(std::weak_ptr<Owner> owner) override { slot_->owner = std::move(owner); }
    /// Any thread: fail() may run meanwhile.
    void post(std::function<void()> function) override { post_(std::move(function)); }
    void prepare(const Diff& diff) override { result_.emplace(convert_(diff)); }
    void finish_here() override {
        Operation<Result>::complete_here(std::move(operation_), {}, *std::exchange(result_, {}));
    }
    void fail(error_code ec) override {
        if (!operation_) return;  // an executor called the handler within the post, and it threw
        Operation<Result>::complete_or_keep(operation_, ec, Result());
    }

 private:
    struct Slot {
        explicit Slot(const Reader<Diff>& r) : reader(r) {}
        void cancel() {
            if (const auto alive = owner.lock()) alive->stop_reading(reader);
        }
        const Reader<Diff>& reader;  // outlives the slot
        std::weak_ptr<Owner> owner;
    };

    const Convert convert_;
    const std::shared_ptr<Slot> slot_;
    std::unique_ptr<Operation<Result>> operation_;
    const typename Operation<Result>::Poster post_;
    std::optional<Result> result_;  // prepared
};

/// Begins async_next() of a handle. See RunInitiation.
template <class Impl, class Diff, class Result>
class NextInitiation {
 public:
    using executor_type = asio::any_io_executor;
    using Begin = void (*)(const std::shared_ptr<Impl>&, std::unique_ptr<Reader<Diff>>);
    using Convert = Result (*)(const Diff&);

    NextInitiation(std::shared_ptr<Impl> impl, executor_type executor, Begin begin, Convert convert)
        : impl_(std::move(impl)),
          executor_(std::move(executor)),
          begin_(begin),
          convert_(convert) {}
    executor_type get_executor() const noexcept { return executor_; }
    template <class Handler>
    void operator()(Handler&& handler) const {
        begin_(impl_, std::make_unique<NextOperation<Diff, Result>>(std::forward<Handler>(handler),
                                                                    executor_, convert_));
    }

 private:
    std::shared_ptr<Impl> impl_;
    executor_type executor_;
    Begin begin_;
    Convert convert_;
};

}  // namespace k8s_sd::inline v0::detail
