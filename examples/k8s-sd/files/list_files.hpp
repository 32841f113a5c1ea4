#pragma once

#include "files/target_file.hpp"
#include "files/target_folder.hpp"
#include "jobs/served_jobs.hpp"
#include "k8s_sd/clock.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace bridge {

/// The list of each job in a file of a folder, as file_sd_configs take it: written when it changes,
/// or when others have changed or removed it, removed when the job leaves the configuration, left
/// alone as long as the job is not complete, or is left out of the configuration because of a
/// mistake. For one strand.
class ListFiles {
 public:
    /// \param worker    works on the files, one thing at a time, which may block
    /// \param clock     of the pauses between two writes
    /// \param complain  is called by the worker
    /// \param metrics   outlives all that the worker does
    /// \param look      how often to look for what others have done to the files
    /// \throws support::Unusable
    ListFiles(boost::asio::any_io_executor worker, std::shared_ptr<k8s_sd::Clock> clock,
              const std::string& folder, ListForm form, TargetFile::Complain complain,
              FileMetrics& metrics, std::chrono::milliseconds look = std::chrono::minutes(1));
    /// No file is written any more, but for one that is being written.
    ~ListFiles();
    ListFiles(const ListFiles&) = delete;
    ListFiles& operator=(const ListFiles&) = delete;

    /// The jobs with files that were written in an earlier run. Call it before follow().
    std::set<std::string> jobs_of_before() const;
    /// These are the jobs now.
    void follow(const ServedJobs&);
    /// Why files are not up to date, in words, a line each.
    std::string problems() const;

 private:
    struct Place;
    class Writer;

    const std::shared_ptr<Place> place_;
    std::map<std::string, std::shared_ptr<Writer>, std::less<>> writers_;  ///< by job
};

}  // namespace bridge
