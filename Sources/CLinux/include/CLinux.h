// What Swift's Glibc module does not show: declarations behind _GNU_SOURCE, and macros as functions.
//
// _GNU_SOURCE itself is not defined: it changes system types (fd_set, __rusage_who), and clang refuses a program
// in which two modules see two definitions. What is needed from behind it is declared here by hand.
#ifndef CLINUX_H
#define CLINUX_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// See the man pages of the same names; the declarations are glibc's.
int syncfs(int descriptor);
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
int pthread_setname_np(pthread_t thread, const char *name);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
char *strptime(const char *text, const char *format, struct tm *parts);
#ifndef POLLRDHUP
#define POLLRDHUP 0x2000
#endif
#ifndef EAI_NODATA
#define EAI_NODATA (-5)
#define EAI_ADDRFAMILY (-9)
#endif

// errno is a macro over a thread-local; Swift must read it in the same call chain as the failed call.
static inline int clinux_errno(void) { return errno; }

// strerror(3) shares a buffer between threads; strerror_r(3) is the XSI one here.
static inline int clinux_strerror(int code, char *buffer, size_t size) { return strerror_r(code, buffer, size); }
// open(2) and openat(2) are variadic.
static inline int clinux_openat(int folder, const char *path, int flags, mode_t mode) {
    return openat(folder, path, flags, mode);
}
static inline int clinux_terminal_size(int descriptor, struct winsize *size) {
    return ioctl(descriptor, TIOCGWINSZ, size);
}
// tcp(7), SIOCOUTQ: bytes that the peer has not acknowledged.
static inline int clinux_send_queue(int descriptor, int *bytes) {
    return ioctl(descriptor, TIOCOUTQ, bytes);
}
static inline int clinux_fcntl(int descriptor, int command, long argument) {
    return fcntl(descriptor, command, argument);
}
// SIG_IGN is a cast in a macro, which Swift does not import.
static inline void clinux_ignore_signal(int number) { signal(number, SIG_IGN); }
static inline int clinux_is_signal_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

// environ(7) is shared mutable state, which Swift does not take.
static inline char *const *clinux_environment(void) {
    extern char **environ;
    return environ;
}

// The arguments that the kernel handed to the process; NULL beyond the last.
int clinux_argument_count(void);
const char *clinux_argument(int index);

#endif
