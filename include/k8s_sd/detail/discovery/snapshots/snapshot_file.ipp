#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::string_view leftover_prefix = ".new-";
/// Tolerance for adjusted clocks.
constexpr std::chrono::minutes future_limit{5};
/// Bytes hashed in a few milliseconds.
constexpr std::size_t digest_step = std::size_t{1} << 20;

std::string last_error() { return std::strerror(errno); }

void put_u64(std::string& out, std::uint64_t number) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>(number >> (8 * i) & 0xffU);
}
std::uint64_t take_u64(std::string_view& bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    bytes.remove_prefix(8);
    return number;
}
std::string_view view(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
std::string first_line(const SnapshotKey& key) { return "k8s_sd " + std::string(key.kind) + "\n"; }

/// Closes a descriptor.
class Descriptor {
 public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    ~Descriptor() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const noexcept { return descriptor_; }
    int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
    int descriptor_;
};

/// Why the open file or directory may be accessible to others; empty: it is not.
std::string stranger(int descriptor, bool directory) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return last_error();
    if (directory ? !S_ISDIR(status.st_mode) : !S_ISREG(status.st_mode)) {
        return directory ? "is no directory" : "is not a regular file";
    }
    if (status.st_uid != geteuid()) return "belongs to another user";
    if ((status.st_mode & 077U) != 0) {
        return directory ? "is accessible to others; chmod 700 it" : "is readable by others";
    }
    return {};
}

std::string write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return last_error();
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return fsync(descriptor) == 0 ? std::string() : last_error();
}

}  // namespace

Digest digest_of(std::string_view bytes) {
    Digest digest{};
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                     &EVP_MD_CTX_free);
    EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), digest_step))) {
        halt_at_exit();
        EVP_DigestUpdate(context.get(), bytes.data(), std::min(bytes.size(), digest_step));
    }
    EVP_DigestFinal_ex(context.get(), digest.data(), nullptr);
    return digest;
}

std::string hex(const Digest& digest, std::size_t bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : std::span(digest).first(bytes)) {
        (text += digits[byte >> 4U]) += digits[byte & 15U];
    }
    return text;
}

std::string snapshot_bytes(const SnapshotKey& key, std::chrono::system_clock::time_point created,
                           std::string_view payload) {
    std::string bytes = first_line(key);
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(created.time_since_epoch());
    put_u64(bytes, static_cast<std::uint64_t>(seconds.count()));
    bytes += view(key.identity);
    put_u64(bytes, payload.size());
    bytes += payload;
    return bytes += view(digest_of(bytes));
}

ReadSnapshot read_snapshot(std::string_view bytes, const SnapshotKey& key, Duration max_age,
                           std::chrono::system_clock::time_point now) {
    const auto refuse = [](std::string problem) {
        return ReadSnapshot{.problem = std::move(problem)};
    };
    const std::string line = first_line(key);
    if (!bytes.starts_with(line)) return refuse("is not a snapshot of this version of the library");
    const std::size_t head_size = line.size() + 8 + sizeof(Digest) + 8;
    if (bytes.size() < head_size + sizeof(Digest)) return refuse("is cut off");
    const std::string_view signed_part = bytes.substr(0, bytes.size() - sizeof(Digest));
    if (bytes.substr(signed_part.size()) != view(digest_of(signed_part))) {
        return refuse("is damaged or cut off");
    }
    std::string_view rest = signed_part.substr(line.size());
    const auto seconds = std::min<std::uint64_t>(take_u64(rest), std::uint64_t{1} << 33U);
    const std::chrono::system_clock::time_point created(
        std::chrono::seconds(static_cast<std::int64_t>(seconds)));
    if (rest.substr(0, sizeof(Digest)) != view(key.identity)) {
        return refuse("is of another cluster or configuration");
    }
    rest.remove_prefix(sizeof(Digest));
    if (take_u64(rest) != rest.size()) return refuse("is damaged");
    if (created > now + future_limit) return refuse("is from the future");
    if (now - created > max_age) return refuse("is too old");
    const auto age = std::max(now - created, std::chrono::system_clock::duration::zero());
    return {.payload = std::string(rest),
            .age = std::chrono::duration_cast<std::chrono::seconds>(age)};
}

std::shared_ptr<SnapshotDirectory> SnapshotDirectory::open(const std::string& path,
                                                           std::string& problem) {
    const BlockingCall waits;
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        problem = "cannot be made: " + last_error();
        return nullptr;
    }
    Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (descriptor.get() < 0) {
        problem = "cannot be opened: " + last_error();
        return nullptr;
    }
    problem = stranger(descriptor.get(), true);
    if (problem.empty() && flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
        problem = errno == EWOULDBLOCK ? "is in use by another program" : last_error();
    }
    if (!problem.empty()) return nullptr;
    std::shared_ptr<SnapshotDirectory> directory(new SnapshotDirectory(path, descriptor.release()));
    // Remove leftovers of interrupted writes.
    directory->remove_if([](std::string_view name) { return name.starts_with(leftover_prefix); });
    return directory;
}

SnapshotDirectory::~SnapshotDirectory() { close(descriptor_); }

template <class Predicate>
void SnapshotDirectory::remove_if(const Predicate& is_unwanted) const {
    DIR* listing = opendir(path_.c_str());
    if (!listing) return;
    while (const dirent* entry = readdir(listing)) {
        if (is_unwanted(entry->d_name)) unlinkat(descriptor_, entry->d_name, 0);
    }
    closedir(listing);
}

void SnapshotDirectory::remove_old(std::string_view suffix, Duration age) const {
    const BlockingCall waits;
    const auto now = std::chrono::system_clock::now();
    remove_if([&](const char* name) {
        struct stat status {};
        if (!std::string_view(name).ends_with(suffix) ||
            fstatat(descriptor_, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            return false;
        }
        return now - std::chrono::system_clock::from_time_t(status.st_mtime) > age;
    });
}

std::string SnapshotDirectory::read(const std::string& name, std::size_t max_size,
                                    std::string& bytes, bool& is_missing) const {
    const BlockingCall waits;
    // Without O_NONBLOCK, open() of a FIFO would wait for a writer.
    const Descriptor file(
        openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    is_missing = file.get() < 0 && errno == ENOENT;
    if (file.get() < 0) return "cannot be read: " + last_error();
    if (std::string problem = stranger(file.get(), false); !problem.empty()) return problem;
    bytes.clear();
    char buffer[1 << 16];
    while (true) {
        const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return "cannot be read: " + last_error();
        if (n == 0) return {};
        bytes.append(buffer, static_cast<std::size_t>(n));
        if (bytes.size() > max_size) return "is too large";
    }
}

std::string SnapshotDirectory::write(const std::string& name, std::string_view bytes) const {
    const BlockingCall waits;
    const std::string temporary = std::string(leftover_prefix) + name;
    unlinkat(descriptor_, temporary.c_str(), 0);
    const Descriptor file(openat(descriptor_, temporary.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return last_error();
    std::string problem = write_all(file.get(), bytes);
    if (problem.empty() &&
        renameat(descriptor_, temporary.c_str(), descriptor_, name.c_str()) != 0) {
        problem = last_error();
    }
    if (!problem.empty()) {
        unlinkat(descriptor_, temporary.c_str(), 0);
        return problem;
    }
    // The rename is durable once the directory has been synced, too.
    return fsync(descriptor_) == 0 ? std::string() : last_error();
}

}  // namespace k8s_sd::inline v0::detail
