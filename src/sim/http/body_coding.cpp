#include "sim/http/body_coding.hpp"

#include "sim/http/gzip.hpp"

#include <cstddef>

namespace k8s_sd::inline v0::sim {

std::string BodyCoding::apply(std::string bytes) const {
    using Fault = ApiServer::EncodingFault;
    if (!gzip || fault == Fault::plain_gzip) return bytes;
    if (fault == Fault::gzip_members) {
        const std::string_view body = bytes;
        const std::size_t third = body.size() / 3;
        return sim::gzip(body.substr(0, third)) + sim::gzip(body.substr(third, third)) +
               sim::gzip(body.substr(2 * third));
    }
    std::string packed = sim::gzip(bytes);
    if (cuts()) packed.resize(packed.size() / 2);
    if (fault == Fault::garbage_after_gzip) packed += "garbage";
    return packed;
}

}  // namespace k8s_sd::inline v0::sim
