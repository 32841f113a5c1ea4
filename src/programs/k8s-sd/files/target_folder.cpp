#include "files/target_folder.hpp"

#include "cli/command_line.hpp"

#define XXH_INLINE_ALL  // the header is the whole library
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace k8s_sd_program {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view suffix = ".json";
constexpr std::size_t max_file_name = 255;  // bytes, in the file systems of Linux
constexpr char hash_mark = '~';             // in no other name
/// Agents run as other users; the mode of the folder restricts access.
constexpr mode_t for_all_to_read = 0644;

std::system_error last_error(const std::string& what) {
    return {errno, std::generic_category(), what};
}

/// An open file.
class File {
 public:
    /// \param shown  the path for error messages
    File(const fs::path& path, int flags, const fs::path& shown)
        : path_(shown), fd_(::open(path.c_str(), flags | O_CLOEXEC, for_all_to_read)) {
        if (fd_ < 0) throw last_error("cannot write " + path_);
    }
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void write(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t size = ::write(fd_, bytes.data(), bytes.size());
            if (size < 0 && errno == EINTR) continue;
            if (size < 0) throw last_error("cannot write " + path_);
            bytes.remove_prefix(static_cast<std::size_t>(size));
        }
    }
    /// Syncs the file to the disk and makes it readable.
    void finish() const {
        if (::fchmod(fd_, for_all_to_read) != 0 || ::fsync(fd_) != 0) {
            throw last_error("cannot write " + path_);
        }
    }
    bool lock() const { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }
    int release() { return std::exchange(fd_, -1); }

 private:
    const std::string path_;
    int fd_;
};

/// Empty if there is no such file.
std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool has_bytes(const fs::path& path, std::string_view bytes) {
    std::error_code ec;
    return fs::file_size(path, ec) == bytes.size() && !ec && content_of(path) == bytes;
}

cli::Unusable unusable(const std::string& why) { return cli::Unusable("--write-dir: " + why); }

std::string why_unusable(const fs::path& folder, const std::error_code& ec) {
    std::error_code ignored;
    const bool is_other = fs::exists(folder, ignored) && !fs::is_directory(folder, ignored);
    if (is_other)
        return folder.string() + " is not a directory; specify an existing one, or one to create";
    const bool lacks_parent = ec == std::errc::no_such_file_or_directory;
    return "cannot create or access the directory " + folder.string() + ": " + ec.message() +
           (lacks_parent ? "; the parent directory must exist" : "");
}

std::string with_hash(std::string file) {
    std::array<char, 16> digits{};
    const std::uint64_t hash = XXH64(file.data(), file.size(), 0);
    const auto end = std::to_chars(digits.begin(), digits.end(), hash, 16).ptr;
    file.resize(max_file_name - suffix.size() - 1 - digits.size());
    return (file += hash_mark).append(digits.begin(), end);
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string file_name_of(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view others = "-_.";
    std::string file;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool plain = letter || (c >= '0' && c <= '9') || others.find(c) != others.npos;
        if (plain && !(c == '.' && file.empty())) {
            file += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            ((file += '%') += digits[byte >> 4U]) += digits[byte & 0xFU];
        }
    }
    if (file.size() + suffix.size() > max_file_name) file = with_hash(std::move(file));
    return file.append(suffix);
}

std::string job_name_of(std::string_view file) {
    if (!file.ends_with(suffix)) return {};
    file.remove_suffix(suffix.size());
    std::string name;
    for (std::size_t i = 0; i < file.size(); ++i) {
        if (file[i] == hash_mark) return {};
        if (file[i] != '%') {
            name += file[i];
            continue;
        }
        const int high = i + 2 < file.size() ? digit_of(file[i + 1]) : -1;
        const int low = high < 0 ? -1 : digit_of(file[i + 2]);
        if (low < 0) return {};
        name += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return name;
}

TargetFolder::TargetFolder(fs::path folder)
    : folder_(std::move(folder)), hidden_(folder_ / ".k8s-sd") {
    std::error_code ec;
    fs::create_directory(folder_, ec);
    if (ec || !fs::is_directory(folder_, ec)) throw unusable(why_unusable(folder_, ec));
    fs::create_directory(hidden_, ec);
    try {
        File lock(hidden_ / "lock", O_RDWR | O_CREAT, hidden_ / "lock");
        if (!lock.lock()) {
            throw unusable("another k8s-sd writes to " + folder_.string() +
                           "; each needs a directory of its own");
        }
        lock_ = lock.release();
    } catch (const std::system_error& e) {
        throw unusable(std::string(e.what()) +
                       "; the user of k8s-sd needs permission to write there");
    }
}

TargetFolder::~TargetFolder() { ::close(lock_); }

void TargetFolder::mark(const std::string& file, std::string_view job) const {
    const std::string_view text = job_name_of(file) == job ? std::string_view() : job;
    if (has_bytes(hidden_ / file, text)) return;
    const File out(hidden_ / file, O_WRONLY | O_CREAT | O_TRUNC, folder_ / file);
    out.write(text);
}

bool TargetFolder::write(const std::string& file, std::string_view bytes,
                         std::string_view job) const {
    const fs::path path = folder_ / file;
    // Unlike the files, the draft has no suffix.
    const fs::path draft = hidden_ / "draft";
    mark(file, job);
    if (has_bytes(path, bytes)) return false;
    const File out(draft, O_WRONLY | O_CREAT | O_TRUNC, path);
    out.write(bytes);
    out.finish();
    std::error_code ec;
    fs::rename(draft, path, ec);
    if (ec) throw std::system_error(ec, "cannot write " + path.string());
    return true;
}

TargetFolder::State TargetFolder::state(const std::string& file) const {
    struct stat found {};
    if (::stat((folder_ / file).c_str(), &found) != 0) return {};
    return {found.st_ino, found.st_ctim.tv_sec, found.st_ctim.tv_nsec};
}

std::string TargetFolder::job_of(const std::string& file) const {
    if (std::string job = job_name_of(file); !job.empty()) return job;
    std::string job = content_of(hidden_ / file);
    // A crash may have cut the mark.
    return !job.empty() && file_name_of(job) == file ? job : std::string();
}

void TargetFolder::remove(const std::string& file) const {
    if (!fs::exists(hidden_ / file)) return;
    for (const fs::path& path : {folder_ / file, hidden_ / file}) {
        std::error_code ec;
        fs::remove(path, ec);
        if (ec) throw std::system_error(ec, "cannot remove " + path.string());
    }
}

std::set<std::string> TargetFolder::written() const {
    std::set<std::string> files;
    std::error_code ec;
    for (fs::directory_iterator it(hidden_, ec), end; !ec && it != end; it.increment(ec)) {
        std::string file = it->path().filename();
        if (file.ends_with(suffix)) files.insert(std::move(file));
    }
    return files;
}

}  // namespace k8s_sd_program
