#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/base/secrets.hpp"

#include <boost/system/error_code.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t chunk_bytes = 4096;

std::string system_message(int number) {
    return boost::system::error_code(number, boost::system::system_category()).message();
}

std::string size_text(std::size_t bytes) {
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    if (bytes % mebibyte != 0) return std::to_string(bytes) + " bytes";
    return std::to_string(bytes / mebibyte) + " MiB";
}

class File {
 public:
    explicit File(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    bool is_open() const noexcept { return descriptor_ >= 0; }
    /// Other files, such as a FIFO, may block a reader indefinitely.
    bool is_regular() const noexcept {
        struct stat status {};
        return ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    }
    ssize_t read(char* to, std::size_t size) const noexcept {
        ssize_t n = -1;
        do {
            n = ::read(descriptor_, to, size);
        } while (n < 0 && errno == EINTR);
        return n;
    }

 private:
    int descriptor_;
};

}  // namespace

std::optional<CleansedBytes> read_secret_file(const std::string& path, std::string& problem,
                                              std::size_t max_size) {
    const BlockingCall waits;
    const File file(path);
    if (!file.is_open()) {
        problem = system_message(errno);
        return std::nullopt;
    }
    if (!file.is_regular()) {
        problem = "it is not a regular file";
        return std::nullopt;
    }
    CleansedBytes content;
    for (;;) {
        const std::size_t size = content.size();
        content.resize(size + chunk_bytes);
        const ssize_t n = file.read(content.data() + size, chunk_bytes);
        if (n < 0) {
            problem = system_message(errno);
            return std::nullopt;
        }
        content.resize(size + static_cast<std::size_t>(n));
        if (n == 0) return content;
        if (content.size() > max_size) {
            problem = "it is larger than " + size_text(max_size);
            return std::nullopt;
        }
    }
}

}  // namespace k8s_sd::inline v0::detail
