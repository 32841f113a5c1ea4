#pragma once

#include "cluster.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/target_groups.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

/// The least work for the same result: what no implementation can do without.
namespace bench {

/// Finds the wanted fields in the body of a list, with the field tables of the library, and stores
/// nothing: neither texts nor objects. Unwanted fields are skipped as fast as the library can.
class FieldWalk {
 public:
    virtual ~FieldWalk() = default;
    /// \returns the number of consumed bytes; the caller passes the others again, with more
    virtual std::size_t feed(std::string_view bytes) = 0;
    /// The number of wanted values so far.
    virtual std::size_t values() const noexcept = 0;
};
std::unique_ptr<FieldWalk> make_field_walk(Encoding encoding, k8s_sd::Kind kind);

enum class Floor {
    socket,       ///< reads the body and discards it
    field_walk,   ///< and finds the wanted fields
    json_parser,  ///< and passes it through Boost.JSON's parser
};

/// Requests the list of a kind from a server of a benchmark.
/// \returns the CPU time, in seconds
double measure_floor(unsigned short port, Encoding encoding, Floor floor,
                     k8s_sd::Kind kind = k8s_sd::Kind::pod);

/// The size of the text of all targets, each distinct name and value once: what a host with
/// reachable targets has to keep.
std::size_t label_text(const k8s_sd::TargetGroups&);

}  // namespace bench
