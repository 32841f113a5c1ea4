# K8S_SD_TESTED: the libraries for tests of internals. A shared library hides the internal symbols,
# so these tests link its objects.
set(K8S_SD_TESTED k8s_sd::scrape k8s_sd::sim)
if(BUILD_SHARED_LIBS)
    add_library(k8s_sd_unhidden STATIC $<TARGET_OBJECTS:k8s_sd> $<TARGET_OBJECTS:k8s_sd_scrape>
        $<TARGET_OBJECTS:k8s_sd_sim>)
    set_target_properties(k8s_sd_unhidden PROPERTIES LINKER_LANGUAGE CXX)
    target_compile_definitions(k8s_sd_unhidden INTERFACE K8S_SD_SHARED)
    target_link_libraries(k8s_sd_unhidden INTERFACE k8s_sd_headers re2::re2)
    set(K8S_SD_TESTED k8s_sd_unhidden)
endif()
