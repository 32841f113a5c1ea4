#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/detail/net/flights.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <memory>
#include <string>

namespace k8s_sd::inline v0::detail {

/// What a file held, or why that is not known.
struct FileContent {
    CleansedBytes bytes;
    std::string problem;  ///< empty: none; otherwise the reason, without the path
};

struct FileRead {
    bool is(const FileRead& other) const noexcept {
        return calls == other.calls && path == other.path;
    }

    std::shared_ptr<FileCalls> calls;
    std::string path;
    TimePoint since;  ///< when it began
};

/// The files that are being read for one execution context: one read of a file at a time, whoever
/// waits for it, also when nobody does any more. What was read is not kept. Thread-safe.
class FileReads final : public asio::execution_context::service {
 public:
    using Shared = Flights<FileRead, std::shared_ptr<const FileContent>>;
    using Handler = Shared::Handler;
    struct Begun {
        Shared::Ticket ticket;
        TimePoint since;  ///< earlier than now if somebody else has begun
    };

    static asio::execution_context::id id;

    explicit FileReads(asio::execution_context& context);

    /// The handler is posted to `executor`, whose context decides which reads are shared.
    static Begun async_read(const asio::any_io_executor& executor,
                            const std::shared_ptr<FileCalls>&, const std::string& path,
                            TimePoint now, Handler);

 private:
    void shutdown() override;

    std::shared_ptr<Shared> reads_;
};

}  // namespace k8s_sd::inline v0::detail
