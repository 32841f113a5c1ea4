#include "k8s_sd/detail/async/file_reads.hpp"
#include "k8s_sd/detail/base/secret_file.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/query.hpp>
#include <exception>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

std::shared_ptr<const FileContent> failed_content(const std::string& problem) {
    return std::make_shared<const FileContent>(FileContent{{}, problem});
}

std::shared_ptr<const FileContent> read_content(const std::string& path) {
    try {
        FileContent content;
        if (auto bytes = read_secret_file(path, content.problem)) content.bytes.swap(*bytes);
        return std::make_shared<const FileContent>(std::move(content));
    } catch (const std::exception& error) {
        return failed_content(in_words(error));
    }
}

void read_for(const std::shared_ptr<FileReads::Shared>& reads, std::uint64_t number,
              const FileRead& read) {
    std::string problem = "unknown exception";
    try {
        const bool begun = read.calls->run([weak = std::weak_ptr(reads), number, path = read.path] {
            const auto content = read_content(path);
            if (const auto self = weak.lock()) self->complete(number, content);
        });
        if (begun) return;
        problem = "too many files are being read";
    } catch (const std::exception& error) {
        problem = in_words(error);
    } catch (...) {
    }
    reads->complete(number, failed_content(problem));
}

}  // namespace

asio::execution_context::id FileReads::id;

FileReads::FileReads(asio::execution_context& context)
    : asio::execution_context::service(context), reads_(std::make_shared<Shared>(1)) {}

FileReads::Begun FileReads::async_read(const asio::any_io_executor& executor,
                                       const std::shared_ptr<FileCalls>& calls,
                                       const std::string& path, TimePoint now, Handler handler) {
    auto& context = asio::query(executor, asio::execution::context);
    const auto reads = asio::use_service<FileReads>(context).reads_;
    const auto joined = reads->join({calls, path, now}, executor, std::move(handler));
    if (joined.first) read_for(reads, joined.number, joined.call);
    return {joined.waiter, joined.call.since};
}

void FileReads::shutdown() { reads_->clear(); }

}  // namespace k8s_sd::inline v0::detail
