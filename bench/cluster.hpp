#pragma once

#include "object_list.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// The pods of a cluster, with the body of their LIST made beforehand.
class Cluster {
 public:
    /// \param pods  rounded up to whole copies of the recorded list
    explicit Cluster(std::size_t pods, Encoding encoding = Encoding::json);

    Encoding encoding() const noexcept { return list_.encoding(); }
    /// The body of the LIST, in parts.
    const std::vector<std::string>& parts() const noexcept { return parts_; }
    std::size_t list_bytes() const noexcept { return list_.bytes(); }
    std::size_t size() const noexcept { return list_.size(); }

    /// A MODIFIED event of a pod, with `revision` in one of its labels.
    void append_event(std::string& out, std::size_t pod, std::size_t revision) const;

 private:
    ObjectList list_;
    std::vector<std::string> parts_;
};

}  // namespace bench
