#pragma once

#include "files/target_file.hpp"
#include "files/target_folder.hpp"
#include "jobs/served_jobs.hpp"

#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace bridge {

/// The list of each job in a file of a folder, as file_sd_configs take it: written when it changes,
/// or when others have changed or removed it, removed when the job leaves the configuration, left
/// alone as long as the job is not complete.
/// For one strand; the files are written in a thread of their own.
class ListFiles {
 public:
    /// \param complain  is called in that thread
    /// \param metrics   outlives it
    /// \param look      how often to look for what others have done to the files
    /// \throws support::Unusable
    ListFiles(const std::string& folder, ListForm form, TargetFile::Complain complain,
              FileMetrics& metrics, std::chrono::milliseconds look = std::chrono::minutes(1));
    ~ListFiles();
    ListFiles(const ListFiles&) = delete;
    ListFiles& operator=(const ListFiles&) = delete;

    /// These are the jobs now.
    void follow(const ServedJobs&);

 private:
    class Writer;

    void remove_all_but(const std::set<std::string>& files) const;

    TargetFolder folder_;
    const ListForm form_;
    const TargetFile::Complain complain_;
    FileMetrics& metrics_;
    const std::chrono::milliseconds look_;
    boost::asio::thread_pool thread_{1};  // outlives the timers of the writers
    std::map<std::string, std::shared_ptr<Writer>, std::less<>> writers_;  ///< by job
};

}  // namespace bridge
