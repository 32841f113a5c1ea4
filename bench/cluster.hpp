#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A file of bench/data.
std::string recorded(const std::string& name);

enum class Encoding { json, protobuf };

/// Of lists and events.
std::string_view content_type(Encoding);

/// A list of pods recorded from a real API server, enlarged by replacing names and addresses with
/// others of equal length.
class Cluster {
 public:
    /// \param pods  rounded up to whole pages of the recorded list
    explicit Cluster(std::size_t pods, Encoding encoding = Encoding::json);

    Encoding encoding() const noexcept { return encoding_; }
    /// The body of the LIST, in parts.
    const std::vector<std::string>& parts() const noexcept { return parts_; }
    std::size_t list_bytes() const noexcept { return list_bytes_; }
    std::size_t size() const noexcept { return items_.size(); }

    /// A MODIFIED event of a pod, with `revision` in one of its labels.
    void append_event(std::string& out, std::size_t pod, std::size_t revision) const;

 private:
    void make_json(std::size_t pods);
    void make_protobuf(std::size_t pods);
    void add_json_page(std::string_view items, std::size_t page);
    void add_protobuf_page(std::string items, std::size_t page);

    Encoding encoding_;
    std::vector<std::string> parts_;
    std::vector<std::string_view> items_;  // views into parts_
    std::size_t list_bytes_ = 0;
};

}  // namespace bench
