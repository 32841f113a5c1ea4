#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/scrape/scrape_entry.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <boost/json/object.hpp>
#include <functional>

namespace k8s_sd::inline v0::detail {

/// Reads entries of `scrape_configs` one at a time, each as if it were the only one of a file.
/// Nothing in them is a variable. Relative paths are relative to the current directory.
class K8S_SD_EXPORT ScrapeJobReader {
 public:
    /// \param global  the section `global` of the file
    /// \throws ScrapeConfigError for a mistake in it
    ScrapeJobReader(const boost::json::object& global, const ScrapeConfigOptions&);
    /// \throws ScrapeConfigError for any mistake
    ScrapeJob read(const ScrapeEntry& entry) { return read_(entry); }

 private:
    std::function<ScrapeJob(const ScrapeEntry&)> read_;
};

}  // namespace k8s_sd::inline v0::detail
