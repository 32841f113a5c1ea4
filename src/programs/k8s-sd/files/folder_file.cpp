#include "files/folder_file.hpp"

#include <system_error>
#include <utility>

namespace k8s_sd_program {

namespace {

/// Each change of a file makes Prometheus read all files of the folder, so writes are spaced.
constexpr std::chrono::milliseconds min_pause{250};

}  // namespace

FolderFile::FolderFile(const TargetFolder& folder, std::string name, Complain complain,
                       FileMetrics& metrics)
    : folder_(folder),
      name_(std::move(name)),
      file_(file_name_of(name_)),
      complain_(std::move(complain)),
      metrics_(metrics),
      backoff_(std::random_device()()) {}

std::chrono::milliseconds FolderFile::write(std::string_view bytes) {
    try {
        if (folder_.write(file_, bytes, name_)) ++metrics_.writes;
        good_ = true;
        state_ = folder_.state(file_);
        problem_.clear();
        backoff_.reset();
        return min_pause;
    } catch (const std::system_error& e) {
        good_ = false;
        ++metrics_.errors;
        if (std::exchange(problem_, e.what()) != e.what()) {
            complain_(problem_ + "; it is tried again");
        }
        return backoff_.next();
    }
}

}  // namespace k8s_sd_program
