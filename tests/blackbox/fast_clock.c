// Preloaded into a program, makes its clocks run FAST_CLOCK times faster, including sleeps and
// waits. The clocks agree with the real ones when the program starts. Timers of the kernel itself
// (such as TCP's) keep their speed.
//
// System calls are made directly, because a sanitizer reads the time before symbols can be looked
// up.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

typedef int64_t Nanoseconds;

enum { monotonic, realtime, clocks };

static const Nanoseconds second = 1000000000;
static Nanoseconds factor;
static Nanoseconds base[clocks];

static Nanoseconds from_timespec(const struct timespec* t) {
    return (Nanoseconds)t->tv_sec * second + t->tv_nsec;
}

static struct timespec to_timespec(Nanoseconds t) {
    return (struct timespec){.tv_sec = t / second, .tv_nsec = t % second};
}

static Nanoseconds real_now(int clock) {
    struct timespec t;
    syscall(SYS_clock_gettime, clock == monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, &t);
    return from_timespec(&t);
}

// Runs before the program has threads.
__attribute__((constructor)) static void start(void) {
    if (factor) return;
    const char* text = getenv("FAST_CLOCK");
    const Nanoseconds wanted = text ? atoll(text) : 1;
    for (int clock = 0; clock < clocks; ++clock) base[clock] = real_now(clock);
    factor = wanted > 0 ? wanted : 1;
}

static Nanoseconds fast_now(int clock) {
    start();
    return base[clock] + (real_now(clock) - base[clock]) * factor;
}

// Rounded up: a thread that wakes too early would only wait again.
static Nanoseconds real_duration(Nanoseconds fast) {
    start();
    return fast <= 0 ? fast : (fast + factor - 1) / factor;
}

static Nanoseconds real_time(int clock, Nanoseconds fast) {
    start();
    return fast <= base[clock] ? fast : base[clock] + real_duration(fast - base[clock]);
}

static int clock_of(clockid_t id) {
    switch (id) {
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_RAW:
        case CLOCK_MONOTONIC_COARSE:
        case CLOCK_BOOTTIME: return monotonic;
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE: return realtime;
        default: return -1;  // processor clocks, for example
    }
}

// Infers the clock of an absolute time: no machine has been up for 30 years.
static int clock_of_time(const struct timespec* t) {
    return t->tv_sec < 1000000000 ? monotonic : realtime;
}

static struct timespec real_timespec(int clock, const struct timespec* fast) {
    return to_timespec(real_time(clock, from_timespec(fast)));
}

static struct timespec real_interval(const struct timespec* fast) {
    return to_timespec(real_duration(from_timespec(fast)));
}

// --- reading ------------------------------------------------------------------------------------

int clock_gettime(clockid_t id, struct timespec* t) {
    const int clock = clock_of(id);
    if (clock < 0) return (int)syscall(SYS_clock_gettime, id, t);
    *t = to_timespec(fast_now(clock));
    return 0;
}

int timespec_get(struct timespec* t, int time_base) {
    if (time_base != TIME_UTC) return 0;
    *t = to_timespec(fast_now(realtime));
    return time_base;
}

int gettimeofday(struct timeval* restrict t, void* restrict zone) {
    (void)zone;
    const Nanoseconds now = fast_now(realtime);
    t->tv_sec = now / second;
    t->tv_usec = now % second / 1000;
    return 0;
}

time_t time(time_t* t) {
    const time_t now = fast_now(realtime) / second;
    if (t) *t = now;
    return now;
}

// --- sleeping -----------------------------------------------------------------------------------

int clock_nanosleep(clockid_t id, int flags, const struct timespec* t, struct timespec* left) {
    const int clock = clock_of(id);
    struct timespec real = *t;
    if (clock >= 0) real = flags & TIMER_ABSTIME ? real_timespec(clock, t) : real_interval(t);
    if (syscall(SYS_clock_nanosleep, id, flags, &real, left) == 0) return 0;
    if (clock >= 0 && left && !(flags & TIMER_ABSTIME)) {
        *left = to_timespec(from_timespec(left) * factor);
    }
    return errno;
}

int nanosleep(const struct timespec* t, struct timespec* left) {
    const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
    if (error) errno = error;
    return error ? -1 : 0;
}

unsigned sleep(unsigned seconds) {
    const struct timespec t = {.tv_sec = seconds};
    struct timespec left = {0};
    return nanosleep(&t, &left) == 0 ? 0 : (unsigned)left.tv_sec;
}

int usleep(useconds_t microseconds) {
    const struct timespec t = to_timespec((Nanoseconds)microseconds * 1000);
    return nanosleep(&t, NULL);
}

// --- waiting for descriptors --------------------------------------------------------------------

enum { mask_size = 8 };  // of the kernel's signal sets

int epoll_pwait(int fd, struct epoll_event* events, int size, int timeout, const sigset_t* mask) {
    if (timeout > 0) timeout = (int)real_duration(timeout);
    return (int)syscall(SYS_epoll_pwait, fd, events, size, timeout, mask, mask_size);
}

int epoll_wait(int fd, struct epoll_event* events, int size, int timeout) {
    return epoll_pwait(fd, events, size, timeout, NULL);
}

int ppoll(struct pollfd* fds, nfds_t size, const struct timespec* timeout, const sigset_t* mask) {
    struct timespec real = {0};
    if (timeout) real = real_interval(timeout);
    return (int)syscall(SYS_ppoll, fds, size, timeout ? &real : NULL, mask, mask_size);
}

int poll(struct pollfd* fds, nfds_t size, int timeout) {
    const struct timespec t = to_timespec((Nanoseconds)timeout * 1000000);
    return ppoll(fds, size, timeout < 0 ? NULL : &t, NULL);
}

int pselect(int size, fd_set* in, fd_set* out, fd_set* other, const struct timespec* timeout,
            const sigset_t* mask) {
    struct timespec real = {0};
    if (timeout) real = real_interval(timeout);
    const struct {
        const sigset_t* mask;
        size_t size;
    } argument = {mask, mask_size};
    return (int)syscall(SYS_pselect6, size, in, out, other, timeout ? &real : NULL, &argument);
}

int select(int size, fd_set* in, fd_set* out, fd_set* other, struct timeval* timeout) {
    struct timespec t = {0};
    if (timeout) t = to_timespec(timeout->tv_sec * second + timeout->tv_usec * 1000);
    return pselect(size, in, out, other, timeout ? &t : NULL, NULL);
}

int timerfd_settime(int fd, int flags, const struct itimerspec* timer, struct itimerspec* old) {
    struct itimerspec real = {.it_interval = real_interval(&timer->it_interval)};
    real.it_value = flags & TFD_TIMER_ABSTIME
                        ? real_timespec(clock_of_time(&timer->it_value), &timer->it_value)
                        : real_interval(&timer->it_value);
    const int result = (int)syscall(SYS_timerfd_settime, fd, flags, &real, old);
    if (result == 0 && old) {
        old->it_value = to_timespec(from_timespec(&old->it_value) * factor);
        old->it_interval = to_timespec(from_timespec(&old->it_interval) * factor);
    }
    return result;
}

int timerfd_gettime(int fd, struct itimerspec* timer) {
    start();
    const int result = (int)syscall(SYS_timerfd_gettime, fd, timer);
    if (result != 0) return result;
    timer->it_value = to_timespec(from_timespec(&timer->it_value) * factor);
    timer->it_interval = to_timespec(from_timespec(&timer->it_interval) * factor);
    return 0;
}

// --- waiting for threads ------------------------------------------------------------------------

// The current version of a function that exists in several.
static void* next_function(const char* name, const char* version) {
    void* found = dlvsym(RTLD_NEXT, name, version);
    return found ? found : dlsym(RTLD_NEXT, name);
}

int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict until) {
    static int (*next)(pthread_cond_t*, pthread_mutex_t*, const struct timespec*);
    if (!next) *(void**)&next = next_function("pthread_cond_timedwait", "GLIBC_2.3.2");
    const struct timespec real = real_timespec(clock_of_time(until), until);
    return next(condition, mutex, &real);
}

int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           clockid_t id, const struct timespec* restrict until) {
    static int (*next)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
    if (!next) *(void**)&next = next_function("pthread_cond_clockwait", "GLIBC_2.30");
    const struct timespec real = real_timespec(clock_of(id), until);
    return next(condition, mutex, id, &real);
}

int sem_timedwait(sem_t* restrict semaphore, const struct timespec* restrict until) {
    static int (*next)(sem_t*, const struct timespec*);
    if (!next) *(void**)&next = next_function("sem_timedwait", "GLIBC_2.34");
    const struct timespec real = real_timespec(realtime, until);
    return next(semaphore, &real);
}

int sem_clockwait(sem_t* restrict semaphore, clockid_t id, const struct timespec* restrict until) {
    static int (*next)(sem_t*, clockid_t, const struct timespec*);
    if (!next) *(void**)&next = next_function("sem_clockwait", "GLIBC_2.34");
    const struct timespec real = real_timespec(clock_of(id), until);
    return next(semaphore, id, &real);
}
