#include "sim/recording/recording_format.hpp"
#include "sim/recording/response_filter.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace k8s_sd::inline v0::sim {

namespace {

/// Recordings contain environment variables of pods: only the user may read them. Children of the
/// process do not inherit the descriptor.
std::FILE* open_private(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    std::FILE* file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
    if (descriptor >= 0 && !file) ::close(descriptor);
    return file;
}

/// Keeps so many former recordings: FILE.1 is the last one, with its names.
void rotate(const std::string& path, unsigned former_files) {
    const auto numbered = [&](unsigned number) {
        return path + (number == 0 ? "" : "." + std::to_string(number));
    };
    const auto move = [](const std::string& from, const std::string& to) {
        return std::rename(from.c_str(), to.c_str()) == 0;
    };
    for (unsigned number = former_files; number > 0; --number) {
        const std::string from = numbered(number - 1);
        const std::string to = numbered(number);
        if (!move(from, to)) continue;  // there were fewer recordings so far
        if (!move(from + ".names", to + ".names")) std::remove((to + ".names").c_str());
    }
}

using OwnedFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

OwnedFile open_or_throw(const std::string& path) {
    OwnedFile file(open_private(path), &std::fclose);
    if (!file) throw std::runtime_error(path + ": " + std::generic_category().message(errno));
    return file;
}

OwnedFile open_after_rotation(const std::string& path, unsigned former_files) {
    rotate(path, former_files);
    return open_or_throw(path);
}

/// Writes each replacement with its original text into a file of the user.
std::shared_ptr<Anonymiser> make_anonymiser(const std::string& path) {
    std::shared_ptr<std::FILE> file = open_or_throw(path);
    return std::make_shared<Anonymiser>(
        [file = std::move(file)](std::string_view replacement, std::string_view original) {
            const std::string line = std::string(replacement) + ' ' + std::string(original) + '\n';
            std::fwrite(line.data(), 1, line.size(), file.get());
            std::fflush(file.get());
        });
}

/// Of zlib. Lists repeat themselves: level 3 finds longer matches than level 1, which takes less
/// time.
constexpr int usual_level = 3;

}  // namespace

/// The file, compressed. Each part is flushed, so a recording of a killed program is readable.
class RecordingConnector::File {
 public:
    File(std::shared_ptr<Clock> clock, const std::string& path, RecordingOptions options)
        : clock_(std::move(clock)),
          start_(clock_->now()),
          options_(std::move(options)),
          file_(open_after_rotation(path, options_.former_files)),
          names_(options_.anonymise ? make_anonymiser(path + ".names") : nullptr) {
        if (::deflateInit2(&stream_, level_, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
            throw std::runtime_error("zlib cannot be used");
        }
        write(recording_head, Z_SYNC_FLUSH);
    }
    ~File() { ::deflateEnd(&stream_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Null: names stay.
    const std::shared_ptr<Anonymiser>& names() const noexcept { return names_; }
    bool has_ended() const noexcept { return ended_; }
    std::uint64_t next_stream() {
        const std::lock_guard lock(mutex_);
        return ++streams_;
    }
    /// \param is_compressed  by the server: deflate would only cost time
    void add(RecordedPart::Kind kind, std::uint64_t stream, std::string_view text,
             bool is_compressed = false) {
        std::string why;
        {
            const std::lock_guard lock(mutex_);
            if (ended_) return;
            const Duration time = clock_->now() - start_;
            const std::string line = line_of(kind, stream, time, text.size());
            set_level(is_compressed ? Z_NO_COMPRESSION : usual_level);
            // The limit is one of compressed bytes; an incompressible part must fit, too.
            if (written_ + line.size() + text.size() + 1000 > options_.max_bytes) {
                finish(recording_full);
                why =
                    "it has reached its limit of " + std::to_string(options_.max_bytes) + " bytes";
            } else if (!write(line, Z_NO_FLUSH) || !write(text, Z_NO_FLUSH) ||
                       !write("\n", Z_SYNC_FLUSH)) {
                ended_ = true;
                why = std::generic_category().message(errno);
            }
        }
        if (!why.empty() && options_.on_end) options_.on_end(why);
    }
    void end() {
        const std::lock_guard lock(mutex_);
        if (!ended_) finish(recording_complete);
    }

 private:
    void finish(std::string_view line) {
        ended_ = true;
        write(line, Z_FINISH);
    }
    bool write(std::string_view text, int flush) {
        // zlib does not change its input.
        stream_.next_in = reinterpret_cast<::Bytef*>(const_cast<char*>(text.data()));
        stream_.avail_in = static_cast<::uInt>(text.size());
        do {
            stream_.next_out = buffer_.data();
            stream_.avail_out = static_cast<::uInt>(buffer_.size());
            ::deflate(&stream_, flush);
            const std::size_t size = buffer_.size() - stream_.avail_out;
            if (std::fwrite(buffer_.data(), 1, size, file_.get()) != size) return false;
            written_ += size;
        } while (stream_.avail_out == 0);
        return flush == Z_NO_FLUSH || std::fflush(file_.get()) == 0;
    }
    void set_level(int level) {
        if (level == level_) return;
        // All parts so far have been flushed, so this writes nothing.
        stream_.avail_in = 0;
        stream_.next_out = buffer_.data();
        stream_.avail_out = static_cast<::uInt>(buffer_.size());
        ::deflateParams(&stream_, level, Z_DEFAULT_STRATEGY);
        level_ = level;
    }

    const std::shared_ptr<Clock> clock_;
    const TimePoint start_;
    const RecordingOptions options_;
    std::mutex mutex_;
    const OwnedFile file_;
    const std::shared_ptr<Anonymiser> names_;
    ::z_stream stream_{};
    int level_ = usual_level;
    std::array<::Bytef, 16384> buffer_{};
    std::uint64_t written_ = 0;
    std::uint64_t streams_ = 0;
    std::atomic<bool> ended_ = false;
};

/// Handlers of the inner stream may come after the end of this one, so they share the state.
class RecordingConnector::Stream final : public ByteStream {
 public:
    Stream(std::unique_ptr<ByteStream> inner, std::shared_ptr<File> file)
        : inner_(std::move(inner)), state_(std::make_shared<State>(std::move(file))) {}
    ~Stream() override { state_->close(); }

    void async_connect(ConnectHandler handler) override {
        inner_->async_connect(
            [state = state_, handler = std::move(handler)](error_code ec, std::string text) {
                if (ec != asio::error::operation_aborted) {
                    state->add(RecordedPart::Kind::connect, ec ? ec.message() : "");
                }
                handler(ec, std::move(text));
            });
    }
    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        inner_->async_read_some(buffer, [state = state_, buffer, handler = std::move(handler)](
                                            error_code ec, std::size_t size) {
            if (size > 0) state->read({static_cast<const char*>(buffer.data()), size});
            if (ec && ec != asio::error::operation_aborted) state->end(ec);
            handler(ec, size);
        });
    }
    void async_write(asio::const_buffer buffer, IoHandler handler) override {
        const std::string_view request(static_cast<const char*>(buffer.data()), buffer.size());
        if (!state_->begin(request)) return inner_->async_write(buffer, std::move(handler));
        // Only JSON can be anonymised.
        auto sent = std::make_shared<const std::string>(request_for_json(request));
        inner_->async_write(asio::buffer(*sent),
                            [sent, size = buffer.size(),
                             handler = std::move(handler)](error_code ec, std::size_t written) {
                                handler(ec, ec ? std::min(written, size) : size);
                            });
    }
    void close() noexcept override {
        state_->close();
        inner_->close();
    }
    std::string waits_for() const override { return inner_->waits_for(); }

 private:
    struct State {
        explicit State(std::shared_ptr<File> f) : file(std::move(f)), number(file->next_stream()) {}

        void add(RecordedPart::Kind kind, std::string_view text) {
            const bool is_compressed = response && response->is_compressed();
            file->add(kind, number, text, is_compressed);
        }
        /// \return whether the response must be in JSON
        bool begin(std::string_view request) {
            response.reset();
            if (!is_recorded(request)) return false;
            if (file->has_ended()) return file->names() != nullptr;
            response.emplace(file->names(), request);
            std::string text = harmless_request(request);
            if (file->names()) text = file->names()->request(request_for_json(text));
            add(RecordedPart::Kind::request, text);
            return file->names() != nullptr;
        }
        void read(std::string_view bytes) {
            if (!response || file->has_ended()) return;
            if (response->keeps_bytes()) return add_bytes(bytes);
            add_bytes(response->feed(bytes));
        }
        void end(error_code ec) {
            if (response) add_bytes(response->end());
            add(RecordedPart::Kind::end, ec == asio::error::eof ? "" : ec.message());
        }
        void add_bytes(std::string_view bytes) {
            if (!bytes.empty()) add(RecordedPart::Kind::bytes, bytes);
        }
        void close() noexcept {
            if (std::exchange(closed, true)) return;
            try {
                add(RecordedPart::Kind::close, {});
            } catch (const std::exception&) {
                closed = true;  // without memory the recording lacks this part
            }
        }

        const std::shared_ptr<File> file;
        const std::uint64_t number;
        std::optional<ResponseFilter> response;  ///< the present one, if it is recorded
        bool closed = false;
    };

    const std::unique_ptr<ByteStream> inner_;
    const std::shared_ptr<State> state_;
};

RecordingConnector::RecordingConnector(std::shared_ptr<Connector> inner,
                                       std::shared_ptr<Clock> clock, const std::string& file,
                                       RecordingOptions options)
    : inner_(std::move(inner)),
      file_(std::make_shared<File>(std::move(clock), file, std::move(options))) {}

RecordingConnector::~RecordingConnector() { file_->end(); }

std::unique_ptr<ByteStream> RecordingConnector::make_stream(asio::any_io_executor executor,
                                                            const ConnectTarget& target) {
    std::unique_ptr<ByteStream> stream = inner_->make_stream(std::move(executor), target);
    if (!stream) return stream;
    return std::make_unique<Stream>(std::move(stream), file_);
}

}  // namespace k8s_sd::inline v0::sim
