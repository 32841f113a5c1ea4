#include "k8s_sd/detail/async/file_reader.hpp"

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

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
    reading->start(calls_, path, clock_->now());
}

void FileReader::cancel() noexcept {
    if (const auto reading = reading_.lock()) reading->cancel();
}

}  // namespace k8s_sd::inline v0::detail
