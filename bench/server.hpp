#pragma once

#include "child.hpp"
#include "cluster.hpp"

#include <cstddef>

namespace bench {

/// Serves a cluster from a child process, from bytes made beforehand, so that the server costs the
/// measured processes only the socket. LIST returns the whole list; WATCH sends `events` changes
/// for each byte that it receives: one per pod in turn, the nth with n as its revision.
struct Server : Child {
    unsigned short port = 0;
    std::size_t list_bytes = 0;
};
/// \param gzip  send the list compressed to clients that accept it
Server serve(std::size_t pods, std::size_t events, bool gzip = false,
             Encoding encoding = Encoding::json);

}  // namespace bench
