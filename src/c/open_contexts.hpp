#pragma once

namespace k8s_sd_c {

class Context;

/// An entry in the list of the contexts of the process. exit() closes those that the host has not
/// closed, before it destroys the static objects that their threads use.
class OpenContext {
 public:
    explicit OpenContext(Context&);
    ~OpenContext();
    OpenContext(const OpenContext&) = delete;
    OpenContext& operator=(const OpenContext&) = delete;

 private:
    Context& context_;
};

}  // namespace k8s_sd_c
