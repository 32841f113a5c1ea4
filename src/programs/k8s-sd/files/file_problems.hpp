#pragma once

#include <map>
#include <mutex>
#include <string>

namespace k8s_sd_program {

/// The problems of files. Any thread.
class FileProblems {
 public:
    /// \param problem  in words; empty: resolved
    void set(const std::string& file, const std::string& problem) {
        const std::lock_guard lock(mutex_);
        if (problem.empty()) {
            problems_.erase(file);
        } else {
            problems_.insert_or_assign(file, problem);
        }
    }
    /// In words, one line for each file.
    std::string lines() const {
        const std::lock_guard lock(mutex_);
        std::string text;
        for (const auto& [file, problem] : problems_) text += problem + "\n";
        return text;
    }

 private:
    mutable std::mutex mutex_;
    std::map<std::string, std::string> problems_;  ///< by file
};

}  // namespace k8s_sd_program
