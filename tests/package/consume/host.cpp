// A host that only discovers. Each of the neighbouring projects builds it, and finds the library in
// a different way.
#include "simulation.hpp"

#include <iostream>
#include <k8s_sd/version.hpp>

int main() {
    const std::string address = discovered_address();
    std::cout << "k8s_sd " K8S_SD_VERSION " found " << address << '\n';
    return address == "10.0.0.1:8080" ? 0 : 1;
}
