#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

using Content = std::shared_ptr<const FileContent>;

Content failed_content(const std::string& problem) {
    return std::make_shared<const FileContent>(FileContent{{}, problem});
}

/// \param no_memory  the result without memory for another one
Content read_content(const std::string& path, const Content& no_memory) {
    try {
        FileContent content;
        if (auto bytes = read_secret_file(path, content.problem)) content.bytes.swap(*bytes);
        return std::make_shared<const FileContent>(std::move(content));
    } catch (const std::bad_alloc&) {
        return no_memory;
    } catch (const std::exception& error) {
        return failed_content(in_words(error));
    }
}

/// \returns why the read has not begun; null: it has
Content begin_read(const std::shared_ptr<FileReads::Shared>& reads, std::uint64_t number,
                   const FileRead& read, const Content& no_memory) {
    try {
        const bool begun =
            read.calls->run([weak = std::weak_ptr(reads), number, path = read.path, no_memory] {
                const auto content = read_content(path, no_memory);
                if (const auto self = weak.lock()) self->complete(number, content);
            });
        return begun ? nullptr : failed_content("too many files are being read");
    } catch (const std::bad_alloc&) {
        return no_memory;
    } catch (const std::exception& error) {
        return failed_content(in_words(error));
    } catch (...) {
        return failed_content("unknown exception");
    }
}

}  // namespace

asio::execution_context::id FileReads::id;

FileReads::FileReads(asio::execution_context& context)
    : asio::execution_context::service(context),
      reads_(std::make_shared<Shared>(1)),
      no_memory_(failed_content("no memory")) {}

FileReads::Begun FileReads::async_read(const asio::any_io_executor& executor,
                                       const std::shared_ptr<FileCalls>& calls,
                                       const std::string& path, TimePoint now, Handler handler) {
    auto& context = asio::query(executor, asio::execution::context);
    const auto& all = asio::use_service<FileReads>(context);
    const auto reads = all.reads_;
    const auto joined = reads->join({calls, path, now}, executor, std::move(handler));
    if (joined.first) {
        const Content failure = begin_read(reads, joined.number, joined.call, all.no_memory_);
        if (failure) reads->complete(joined.number, failure);
    }
    return {joined.waiter, joined.call.since};
}

void FileReads::shutdown() { reads_->clear(); }

namespace {

constexpr Duration max_file_read_time = std::chrono::seconds(10);

}  // namespace

/// Kept alive by FileReads.
class FileReader::Reading : public std::enable_shared_from_this<Reading> {
 public:
    Reading(asio::any_io_executor executor, Clock& clock, Handler handler)
        : executor_(std::move(executor)),
          timer_(clock.make_timer(executor_)),
          handler_(std::move(handler)) {}

    void start(const std::shared_ptr<FileCalls>& calls, const std::string& path, TimePoint now) {
        auto [waiter, since] = FileReads::async_read(
            executor_, calls, path, now,
            [self = shared_from_this()](const std::shared_ptr<const FileContent>& content) {
                self->finish(*content);
            });
        waiter_ = std::move(waiter);
        timer_->expires_at(since + max_file_read_time, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->on_timer();
        });
    }
    void cancel() noexcept {
        handler_ = nullptr;
        timer_->cancel();
        waiter_.cancel();
    }

 private:
    /// Posts the timeout, because a busy executor may already have the content queued.
    void on_timer() {
        asio::post(executor_, [weak = weak_from_this()] {
            if (const auto self = weak.lock())
                self->finish({{}, "reading it takes longer than 10 s"});
        });
    }
    void finish(const FileContent& content) {
        if (!handler_) return;
        const auto self = shared_from_this();
        const Handler handler = std::exchange(handler_, nullptr);
        cancel();
        handler(content);
    }

    asio::any_io_executor executor_;
    std::unique_ptr<Timer> timer_;
    Handler handler_;  ///< empty after completion
    FileReads::Shared::WaiterHandle waiter_;
};

FileReader::FileReader(asio::any_io_executor executor, std::shared_ptr<Clock> clock,
                       std::shared_ptr<FileCalls> calls)
    : executor_(std::move(executor)), clock_(std::move(clock)), calls_(std::move(calls)) {}

FileReader::~FileReader() { cancel(); }

void FileReader::async_read(const std::string& path, Handler handler) {
    const auto reading = std::make_shared<Reading>(executor_, *clock_, std::move(handler));
    reading_ = reading;
    try {
        reading->start(calls_, path, clock_->now());
    } catch (...) {
        reading->cancel();  // the caller knows
        throw;
    }
}

void FileReader::cancel() noexcept {
    if (const auto reading = reading_.lock()) reading->cancel();
}

}  // namespace k8s_sd::inline v0::detail
