#pragma once

#include "k8s_sd/kind.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A file of bench/data.
std::string recorded(const std::string& name);

enum class Encoding { json, protobuf };

/// Of lists and events.
std::string_view content_type(Encoding);

/// The list of one kind in a cluster of any size: copies of a list recorded from a real API server,
/// in which names and addresses are replaced by others of equal length. Each part is made when it
/// is needed, so that a list of any length takes the memory of the recorded one.
///
/// The recorded pods are on 200 nodes, ten of each copy on each. Nodes of the first 50 000 pods
/// have 250 pods, the others about 30, so that 15 000 nodes have 500 000 pods.
class ObjectList {
 public:
    static constexpr std::size_t pods_of_copy = 2000, nodes_of_copy = 200;
    static constexpr std::size_t pods_of_namespace = 500;

    /// \param kind  pod, node, service or endpoint slice
    /// \param pods  size of the cluster
    /// \param namespace_size  pods of a namespace, for lists of pods only
    ObjectList(k8s_sd::Kind kind, Encoding encoding, std::size_t pods,
               std::size_t namespace_size = pods_of_namespace);

    Encoding encoding() const noexcept { return encoding_; }
    std::size_t size() const noexcept { return count_; }
    std::size_t bytes() const noexcept { return bytes_; }

    /// Passes the body of the LIST to `take`, in parts.
    template <class Take>
    void for_each_part(const Take& take) const {
        take(std::string_view(head_));
        std::string part;
        for (std::size_t first = 0; first < count_; first += items_.size()) {
            part.clear();
            append_copy(part, first / items_.size());
            take(std::string_view(part));
        }
        take(std::string_view(tail_));
    }
    /// Appends a MODIFIED event of an object, with `value` as one of its labels: nine characters
    /// for a pod, seven for a node.
    /// \param revision  number of the change, for the resource version
    void append_event(std::string& out, std::size_t number, std::string_view value,
                      std::size_t revision) const;

    /// Name of a namespace, always of the same length.
    static std::string namespace_name(std::size_t number);
    /// The number of nodes in a cluster of this many pods.
    static std::size_t node_count(std::size_t pods);

 private:
    enum class What : std::uint8_t { namespace_, node, address };
    /// A text that differs between copies.
    struct Place {
        std::size_t offset;
        What what;
        std::size_t number;  // in the recorded list
    };
    struct Item {
        std::size_t begin;   // with its separator, or its tag and length
        std::size_t object;  // without
        std::size_t end, first_place;
        std::size_t namespace_;  // in the recorded list
    };
    struct Range {
        std::size_t begin, end;
    };

    void read_json();
    void read_protobuf();
    void add_item(std::string_view whole, std::string_view object);
    void find_places(std::string_view prefix, std::size_t digits, What what);
    void append_copy(std::string& out, std::size_t copy) const;
    void append_text(std::string& out, Range items, Range text, std::size_t copy) const;
    std::string text_at(const Place& place, const Item& item, std::size_t copy) const;
    std::size_t items_size() const;

    k8s_sd::Kind kind_;
    Encoding encoding_;
    std::size_t namespace_size_, count_ = 0;
    std::string text_;  // of the recorded items
    std::vector<Item> items_;
    std::vector<Place> places_;
    std::string head_, tail_;
    std::size_t bytes_ = 0;
};

}  // namespace bench
