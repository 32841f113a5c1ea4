/* A host that loads the library at run time: twice at a time, again after unloading, and a second
 * copy in a namespace of its own. */

#define _GNU_SOURCE

#include "support.h"

#include <dlfcn.h>

typedef k8s_sd_context* (*open_function)(const k8s_sd_options*, k8s_sd_error**);
typedef void (*free_function)(k8s_sd_context*);
typedef uint32_t (*version_function)(void);

static const char* path;

static void* symbol(void* library, const char* name) {
    void* const found = dlsym(library, name);
    if (!found) fprintf(stderr, "%s\n", dlerror());
    CHECK(found);
    return found;
}

/* POSIX permits the conversion, ISO C does not. */
#define FUNCTION(type, library, name) (*(type*)&(void*){symbol(library, name)})

static void open_and_free(void* library) {
    k8s_sd_error* error = NULL;
    k8s_sd_context* context;
    CHECK(FUNCTION(version_function, library, "k8s_sd_abi_version")() == K8S_SD_ABI_VERSION);
    context = FUNCTION(open_function, library, "k8s_sd_open")(NULL, &error);
    CHECK(context && !error);
    FUNCTION(free_function, library, "k8s_sd_free")(context);
}

static void* load(void) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    return library;
}

static void twice(void) {
    void* const first = load();
    void* const second = load();
    CHECK(first == second);
    open_and_free(first);
    CHECK(dlclose(first) == 0);
    open_and_free(second);
    CHECK(dlclose(second) == 0);
    open_and_free(load());
}

/* Sanitizers do not know other namespaces. */
static void in_a_namespace(void) {
#if !defined(K8S_SD_ADDRESS_SANITIZER) && !defined(K8S_SD_THREAD_SANITIZER)
    void* const copy = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
    if (!copy) fprintf(stderr, "%s\n", dlerror());
    CHECK(copy && copy != load());
    open_and_free(copy);
    open_and_free(load());
#endif
}

int main(int argc, char** argv) {
    CHECK(argc == 2);
    path = argv[1];
    twice();
    in_a_namespace();
    return 0;
}
