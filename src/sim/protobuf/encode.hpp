#pragma once

#include "sim/protobuf/schema.hpp"

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The object as a protobuf message, byte for byte as Go writes it. JSON values of another type
/// than the message's field count as missing, and fields unknown to the message are omitted.
std::string encode_protobuf(Message, const boost::json::object&);

/// The message of a list, built item by item.
class ListMessage {
 public:
    /// \param metadata  an encoded ListMeta
    explicit ListMessage(std::string_view metadata);
    /// \param item  an encoded object
    void add(std::string_view item);
    const std::string& bytes() const { return bytes_; }

 private:
    std::string bytes_;
};

/// A body: "k8s\0" and a runtime.Unknown with the message.
std::string protobuf_body(std::string_view api_version, std::string_view kind,
                          std::string_view message);

/// Appends a frame of a watch: its length, and a WatchEvent with `body` as its object.
void append_protobuf_frame(std::string& out, std::string_view event, std::string_view body);

}  // namespace k8s_sd::inline v0::sim
