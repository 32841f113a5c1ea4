#pragma once

#include "files/folder_file.hpp"
#include "files/target_folder.hpp"
#include "jobs/served_jobs.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace k8s_sd_program {

/// The list of each job in a file of a folder, for file_sd_configs. A file is written when its list
/// changes, or when another program has changed or removed it; removed when the job is removed from
/// the configuration; left unchanged as long as the job is incomplete, or left out because of a
/// mistake. Used on one strand.
class ListFiles {
 public:
    /// \param worker    works on the files, one after the other; it may block
    /// \param clock     for the pauses between two writes
    /// \param complain  called on the worker
    /// \param metrics   outlives all work of the worker
    /// \param look      how often to check for foreign changes of the files
    /// \throws cli::Unusable
    ListFiles(boost::asio::any_io_executor worker, std::shared_ptr<k8s_sd::Clock> clock,
              const std::string& folder, ListForm form, FolderFile::Complain complain,
              FileMetrics& metrics,
              std::chrono::milliseconds check_interval = std::chrono::minutes(1));
    /// Stops all writes but the current one.
    ~ListFiles();
    ListFiles(const ListFiles&) = delete;
    ListFiles& operator=(const ListFiles&) = delete;

    /// The jobs with files written by an earlier run. Call it before follow().
    std::set<std::string> jobs_of_before() const;
    /// Sets the present jobs.
    void follow(const ServedJobs&);
    /// Why files are outdated, in words, one a line.
    std::string problems() const;

 private:
    struct Place;
    class Writer;

    const std::shared_ptr<Place> place_;
    std::map<std::string, std::shared_ptr<Writer>, std::less<>> writers_;  ///< by job
};

}  // namespace k8s_sd_program
