#include "sim/recording/recording_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace k8s_sd::inline v0::sim {

namespace {

/// An existing file keeps its mode when it is opened. Devices and pipes need no other one.
bool make_private(int descriptor) {
    struct ::stat status {};
    if (::fstat(descriptor, &status) != 0) return false;
    if (!S_ISREG(status.st_mode)) return true;
    return ::fchmod(descriptor, 0600) == 0 && ::ftruncate(descriptor, 0) == 0;
}

/// Recordings contain environment variables of pods: only the user may read them. Children of the
/// process do not inherit the descriptor.
std::FILE* open_private(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return nullptr;
    std::FILE* file = make_private(descriptor) ? ::fdopen(descriptor, "wb") : nullptr;
    if (!file) {
        const int error = errno;
        ::close(descriptor);
        errno = error;
    }
    return file;
}

/// \returns whether there was such a file \throws std::runtime_error if it has to keep its name
bool move(const std::string& from, const std::string& to) {
    if (std::rename(from.c_str(), to.c_str()) == 0) return true;
    if (errno == ENOENT) return false;
    throw std::runtime_error(from + " stays as it is, since it cannot become " + to + ": " +
                             std::generic_category().message(errno));
}

/// Keeps so many former recordings: FILE.1 is the last one, with its names.
/// \throws std::runtime_error before a recording would be overwritten
void rotate(const std::string& path, unsigned former_files) {
    const auto numbered = [&](unsigned number) {
        return path + (number == 0 ? "" : "." + std::to_string(number));
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

/// A file holds its first and last line, and a part.
constexpr std::uint64_t min_max_bytes = 2048;

}  // namespace

class RecordingWriter::NamesFile {
 public:
    explicit NamesFile(const std::string& path) : file_(open_or_throw(path)) {}

    /// Adds a replacement with its original text. Called under the mutex of the anonymiser.
    void add(std::string_view replacement, std::string_view original) {
        const std::string line = std::string(replacement) + ' ' + std::string(original) + '\n';
        size_ += line.size();
        if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) {
            has_failed_ = true;
        }
        is_written_ = false;
    }
    /// Once for each part: the file has the names of all parts, even if the program is killed.
    void write() {
        if (is_written_.exchange(true)) return;
        if (std::fflush(file_.get()) != 0) has_failed_ = true;
    }
    std::uint64_t size() const noexcept { return size_; }
    bool has_failed() const noexcept { return has_failed_; }

 private:
    const OwnedFile file_;
    std::atomic<std::uint64_t> size_ = 0;
    std::atomic<bool> is_written_ = true;
    std::atomic<bool> has_failed_ = false;
};

RecordingWriter::RecordingWriter(std::shared_ptr<Clock> clock, const std::string& path,
                                 RecordingOptions options, std::uint64_t max_text)
    : clock_(std::move(clock)),
      path_(path),
      options_(std::move(options)),
      max_text_(max_text),
      file_(nullptr, &std::fclose),
      next_file_at_(clock_->now()) {
    if (options_.max_bytes < min_max_bytes) {
        throw std::runtime_error("a limit of " + std::to_string(options_.max_bytes) +
                                 " bytes is too small for a recording; it needs " +
                                 std::to_string(min_max_bytes));
    }
    begin_file();
}

std::shared_ptr<Anonymiser> RecordingWriter::names() const {
    const std::lock_guard lock(mutex_);
    return names_;
}

std::uint64_t RecordingWriter::next_stream() {
    const std::lock_guard lock(mutex_);
    return ++streams_;
}

RecordingWriter::Request RecordingWriter::begin(std::uint64_t stream, const std::string& server,
                                                const CollectionRequest& request) {
    Report news;
    Request result;
    {
        const std::lock_guard lock(mutex_);
        go_on(news);
        result.place = {.file = file_number_, .stream = stream};
        if (options_.former_files > 0 && !ended_ && !is_full_) {
            result.expects_list = follow_lists(server, request);
        }
    }
    report(news);
    return result;
}

bool RecordingWriter::follow_lists(const std::string& server, const CollectionRequest& request) {
    using Purpose = CollectionRequest::Purpose;
    if (request.purpose == Purpose::other) return false;
    Collection& known = collections_[server + request.prefix + ' ' + request.collection];
    if (request.purpose == Purpose::page) {
        // The former file has the first pages.
        if (!known.is_listed) known.is_listing = true;
        return false;
    }
    // A request other than for a page comes after the list: it is complete, or has failed.
    known.is_listing = request.lists() && !known.is_listed;
    if (request.lists()) {
        known.is_listed = true;
        known.is_streamed = request.purpose == Purpose::streamed_list;
        known.list_began_at = clock_->now();
        return false;
    }
    // Once for each collection and file, even if the client does not list then.
    return !known.is_listed && file_number_ > 0 && !std::exchange(known.is_asked_to_list, true);
}

bool RecordingWriter::is_listing() const {
    // The watch goes on after a streamed list, without another request.
    constexpr Duration max_streamed_list = std::chrono::minutes(1);
    return std::any_of(collections_.begin(), collections_.end(), [&](const auto& entry) {
        const Collection& known = entry.second;
        return known.is_listing &&
               (!known.is_streamed || clock_->now() - known.list_began_at < max_streamed_list);
    });
}

bool RecordingWriter::takes(const Place& place) {
    Report news;
    bool result = false;
    {
        const std::lock_guard lock(mutex_);
        go_on(news);
        result = !ended_ && !is_full_ && place.file == file_number_;
    }
    report(news);
    return result;
}

void RecordingWriter::add(RecordedPart::Kind kind, const Place& place, std::string_view text,
                          bool is_compressed) {
    Report news;
    {
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        go_on(news);
        if (!ended_ && !is_full_ && place.file == file_number_) {
            const std::string line =
                line_of(kind, place.stream, clock_->now() - start_, text.size());
            const std::string limit = limit_before(line.size() + text.size());
            if (names_file_) names_file_->write();
            if (names_file_ && names_file_->has_failed()) {
                ended_ = true;
                news.ended = path_ + ".names cannot be written";
            } else if (!limit.empty()) {
                on_full(limit, news);
            } else if (!write(line) || !write(text, is_compressed) || !write("\n") || !flush()) {
                ended_ = true;
                news.ended = std::generic_category().message(errno);
            }
        }
    }
    report(news);
}

void RecordingWriter::end() {
    const std::lock_guard lock(mutex_);
    if (!ended_ && !is_full_) finish(recording_complete);
    ended_ = true;
}

std::string RecordingWriter::limit_before(std::size_t part) const {
    // For the blocks of gzip, and for the last line.
    const std::size_t spare = 1000 + part / FastGzip::max_text * FastGzip::max_overhead;
    const std::uint64_t names = names_file_ ? names_file_->size() : 0;
    if (written_ + names + part + spare > options_.max_bytes) {
        return "its limit of " + std::to_string(options_.max_bytes) + " bytes";
    }
    if (text_ + part + spare > max_text_) {
        return "its limit of " + std::to_string(max_text_) + " bytes of text";
    }
    return {};
}

void RecordingWriter::begin_file() {
    rotate(path_, options_.former_files);
    file_ = open_or_throw(path_);
    if (options_.anonymise) {
        names_file_ = std::make_shared<NamesFile>(path_ + ".names");
        names_ = std::make_shared<Anonymiser>(
            [file = names_file_](std::string_view replacement, std::string_view original) {
                file->add(replacement, original);
            });
    } else {
        // The names of a recording that this one replaces.
        std::remove((path_ + ".names").c_str());
    }
    start_ = clock_->now();
    written_ = 0;
    text_ = 0;
    collections_.clear();
    put(gzip_.begin());
    write(recording_head);
    flush();
}

void RecordingWriter::go_on(Report& news) {
    if (!is_full_ || ended_ || clock_->now() < next_file_at_) return;
    try {
        begin_file();
    } catch (const std::exception& e) {
        ended_ = true;
        news.ended = e.what();
        return;
    }
    is_full_ = false;
    next_file_at_ = start_ + options_.min_time_between_files;
    ++file_number_;
    news.full = "the recording goes on in a new file, for which everything is listed again; the "
                "full one is now " +
                path_ + ".1";
}

void RecordingWriter::on_full(const std::string& limit, Report& news) {
    finish(recording_full);
    is_full_ = true;
    cut_lists_ = is_listing() ? cut_lists_ + 1 : 0;
    if (options_.former_files == 0) {
        ended_ = true;
        news.ended = "it has reached " + limit;
    } else if (cut_lists_ > 1) {
        // Another file would cost lists of all collections, and be of no use.
        ended_ = true;
        news.ended = "the lists do not fit into " + limit;
    } else {
        const std::chrono::duration<double> wait = next_file_at_ - clock_->now();
        news.full = "the file of the recording is full; the next one begins in " +
                    std::to_string(std::lround(std::ceil(wait.count()))) +
                    " s, and nothing is recorded until then";
        go_on(news);
    }
}

void RecordingWriter::report(const Report& news) const {
    if (!news.full.empty() && options_.on_full) options_.on_full(news.full);
    if (!news.ended.empty() && options_.on_end) options_.on_end(news.ended);
}

void RecordingWriter::finish(std::string_view line) {
    write(line);
    put(gzip_.finish());
    std::fflush(file_.get());
}

bool RecordingWriter::write(std::string_view text, bool is_compressed) {
    text_ += text.size();
    while (!text.empty()) {
        const std::string_view block = text.substr(0, FastGzip::max_text);
        if (!put(is_compressed ? gzip_.store(block) : gzip_.add(block))) return false;
        text.remove_prefix(block.size());
    }
    return true;
}

bool RecordingWriter::flush() { return put(gzip_.flush()) && std::fflush(file_.get()) == 0; }

bool RecordingWriter::put(std::string_view bytes) {
    written_ += bytes.size();
    return std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size();
}

}  // namespace k8s_sd::inline v0::sim
