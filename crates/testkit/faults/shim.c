/*
 * Preloaded into the real program (LD_PRELOAD): counts every call that changes or syncs a file below one
 * folder, and makes one of them fail.
 *
 *   FAULT_ROOT  only paths below this folder are counted
 *   FAULT_LOG   one line for each counted call: number, name, result, path[, second path], with tabs between
 *   FAULT_AT    the number of the call that fails, from 1; 0 or missing: none does. Of `full` and `half` the
 *               first call from there on that needs space or writes
 *   FAULT_KIND  kill       the process kills itself before the call
 *               eio        the call fails with EIO
 *               full       this and all later calls that need space fail with ENOSPC
 *               half       a write takes half of its bytes, and the next write fails with ENOSPC
 *               half-kill  a write takes half of its bytes, then the process kills itself
 *
 * A write through mmap is not seen (SQLite uses one for the lock table of its WAL only), and neither is a
 * system call without libc: a test compares the log with strace.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, KILL, EIO_ONCE, FULL, HALF, HALF_KILL };
enum verdict { GO, FAIL, SHORT };

static enum kind kind = NONE;
static long fault_at = 0;
static long count = 0;
static int half_done = 0;
static int half_owed = 0; /* the next write has to report why the one before was short */
static char root[PATH_MAX];
static size_t root_len = 0;
static int log_fd = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("FAULT_ROOT");
    const char *log = getenv("FAULT_LOG");
    const char *at = getenv("FAULT_AT");
    const char *how = getenv("FAULT_KIND");
    if (folder != NULL && realpath(folder, root) != NULL) root_len = strlen(root);
    /* Raw system calls for our own log: it must not count itself. A high number, so that the program's own
     * descriptors are the same as without us. */
    if (log != NULL) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (fd >= 0) {
            log_fd = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 500);
            syscall(SYS_close, fd);
        }
    }
    if (at != NULL) fault_at = atol(at);
    if (how != NULL) {
        if (strcmp(how, "kill") == 0) kind = KILL;
        if (strcmp(how, "eio") == 0) kind = EIO_ONCE;
        if (strcmp(how, "full") == 0) kind = FULL;
        if (strcmp(how, "half") == 0) kind = HALF;
        if (strcmp(how, "half-kill") == 0) kind = HALF_KILL;
    }
    /* Programs that the program starts run without us. */
    unsetenv("LD_PRELOAD");
    unsetenv("FAULT_ROOT");
    unsetenv("FAULT_LOG");
    unsetenv("FAULT_AT");
    unsetenv("FAULT_KIND");
}

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

#define REAL(result, name, ...)                                          \
    static result (*real_##name)(__VA_ARGS__) = NULL;                    \
    if (real_##name == NULL) *(void **)&real_##name = real(#name)

/* The absolute path that a folder's descriptor and a name in it mean. Links in the last part are not followed. */
static void absolute(int folder, const char *name, char *out) {
    char base[PATH_MAX] = "";
    out[0] = 0;
    if (name == NULL) return;
    if (name[0] == '/') {
        snprintf(out, PATH_MAX, "%s", name);
        return;
    }
    if (folder == AT_FDCWD) {
        if (syscall(SYS_getcwd, base, sizeof base) <= 0) return;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t len = readlink(link, base, sizeof base - 1);
        if (len <= 0) return;
        base[len] = 0;
    }
    size_t used = strlen(base);
    if (used + strlen(name) + 2 > PATH_MAX) return;
    memcpy(out, base, used);
    out[used] = '/';
    strcpy(out + used + 1, name);
}

static void of_descriptor(int fd, char *out) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, out, PATH_MAX - 1);
    out[len > 0 ? len : 0] = 0;
}

static int below_root(const char *path) {
    return root_len > 0 && strncmp(path, root, root_len) == 0 && (path[root_len] == '/' || path[root_len] == 0);
}

/* A counted call: its number is 0 where the call is none of ours. */
struct call {
    long number;
    enum verdict verdict;
    const char *name;
    char path[PATH_MAX];
    char second[PATH_MAX];
};

static void record(const struct call *call, const char *result) {
    char line[2 * PATH_MAX + 128];
    if (log_fd < 0 || call->number == 0) return;
    int len = snprintf(line, sizeof line, "%ld\t%s\t%s\t%s%s%s\n", call->number, call->name, result, call->path,
                       call->second[0] ? "\t" : "", call->second);
    if (len > 0) {
        ssize_t done = syscall(SYS_write, log_fd, line, (size_t)len);
        (void)done;
    }
}

/* What the call really returned: an unlink of what is not there changes nothing. */
static void returned(const struct call *call, int failed) {
    int saved = errno;
    if (call->verdict == SHORT) {
        record(call, "half");
        if (kind == HALF_KILL) {
            syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
            for (;;) syscall(SYS_pause);
        }
    } else {
        record(call, failed ? "failed" : "ok");
    }
    errno = saved;
}

static int needs_space(const char *name) {
    static const char *const names[] = {"create", "write",    "mkdir",     "link",            "symlink",
                                        "rename", "truncate", "fallocate", "copy_file_range", "sendfile", NULL};
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) return 1;
    return 0;
}

static void judge(struct call *call, int is_write) {
    call->number = 0;
    call->verdict = GO;
    if (!below_root(call->path) && !below_root(call->second)) return;
    int saved = errno;
    pthread_mutex_lock(&mutex);
    call->number = ++count;
    if (half_owed && is_write) {
        half_owed = 0;
        record(call, "ENOSPC");
        saved = ENOSPC;
        call->verdict = FAIL;
    } else if (fault_at > 0 && call->number >= fault_at) {
        int first = call->number == fault_at;
        if (kind == KILL && first) {
            record(call, "kill");
            syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
            for (;;) syscall(SYS_pause);
        } else if (kind == EIO_ONCE && first) {
            record(call, "EIO");
            saved = EIO;
            call->verdict = FAIL;
        } else if (kind == FULL && needs_space(call->name)) {
            record(call, "ENOSPC");
            saved = ENOSPC;
            call->verdict = FAIL;
        } else if ((kind == HALF || kind == HALF_KILL) && is_write && !half_done) {
            half_done = 1;
            half_owed = kind == HALF;
            call->verdict = SHORT;
        }
    }
    pthread_mutex_unlock(&mutex);
    errno = saved;
}

static void judge_fd(struct call *call, const char *name, int fd, int is_write) {
    call->number = 0;
    call->verdict = GO;
    if (root_len == 0) return;
    int saved = errno;
    call->name = name;
    call->second[0] = 0;
    of_descriptor(fd, call->path);
    errno = saved;
    judge(call, is_write);
}

static void judge_at(struct call *call, const char *name, int folder, const char *path, int to_folder,
                     const char *to) {
    call->number = 0;
    call->verdict = GO;
    if (root_len == 0) return;
    int saved = errno;
    call->name = name;
    call->second[0] = 0;
    absolute(folder, path, call->path);
    if (to != NULL) absolute(to_folder, to, call->second);
    errno = saved;
    judge(call, 0);
}

/* Opening. Opening for reading is not counted. A file that the call makes is told from one that is there. */

static int changes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)); }

static const char *opening(int folder, const char *path, int flags) {
    int saved = errno;
    int there = syscall(SYS_faccessat, folder, path, F_OK) == 0;
    errno = saved;
    return (flags & O_CREAT) && !there ? "create" : (flags & O_TRUNC) ? "truncate" : "open";
}

#define OPEN_BODY(name, folder, ...)                                                      \
    mode_t mode = 0;                                                                      \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                  \
        va_list more;                                                                     \
        va_start(more, flags);                                                            \
        mode = va_arg(more, mode_t);                                                      \
        va_end(more);                                                                     \
    }                                                                                     \
    if (!changes(flags)) return real_##name(__VA_ARGS__, flags, mode);                    \
    struct call call;                                                                     \
    judge_at(&call, opening(folder, path, flags), folder, path, 0, NULL);                 \
    if (call.verdict == FAIL) return -1;                                                  \
    int got = real_##name(__VA_ARGS__, flags, mode);                                      \
    returned(&call, got < 0);                                                             \
    return got

int open(const char *path, int flags, ...) {
    REAL(int, open, const char *, int, ...);
    OPEN_BODY(open, AT_FDCWD, path);
}
int open64(const char *path, int flags, ...) {
    REAL(int, open64, const char *, int, ...);
    OPEN_BODY(open64, AT_FDCWD, path);
}
int openat(int folder, const char *path, int flags, ...) {
    REAL(int, openat, int, const char *, int, ...);
    OPEN_BODY(openat, folder, folder, path);
}
int openat64(int folder, const char *path, int flags, ...) {
    REAL(int, openat64, int, const char *, int, ...);
    OPEN_BODY(openat64, folder, folder, path);
}
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* Writing. */

#define WRITE_BODY(name, fd, whole, half)                                 \
    struct call call;                                                     \
    judge_fd(&call, name, fd, 1);                                         \
    if (call.verdict == FAIL) return -1;                                  \
    ssize_t done = call.verdict == SHORT ? (ssize_t)(half) : (whole);     \
    returned(&call, done < 0);                                            \
    /* Half of one byte is none, and a write that takes none of them is an error. */ \
    if (call.verdict == SHORT && done == 0) {                             \
        errno = ENOSPC;                                                   \
        return -1;                                                        \
    }                                                                     \
    return done

ssize_t write(int fd, const void *bytes, size_t len) {
    REAL(ssize_t, write, int, const void *, size_t);
    WRITE_BODY("write", fd, real_write(fd, bytes, len), real_write(fd, bytes, len / 2));
}
ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at) {
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    WRITE_BODY("write", fd, real_pwrite(fd, bytes, len, at), real_pwrite(fd, bytes, len / 2, at));
}
ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    WRITE_BODY("write", fd, real_pwrite64(fd, bytes, len, at), real_pwrite64(fd, bytes, len / 2, at));
}

/* Of several pieces only half of the first one is written. */
#define FIRST(parts, number) (number) > 0 ? (parts)[0].iov_base : NULL, (number) > 0 ? (parts)[0].iov_len / 2 : 0

ssize_t writev(int fd, const struct iovec *parts, int number) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    WRITE_BODY("write", fd, real_writev(fd, parts, number), syscall(SYS_write, fd, FIRST(parts, number)));
}
ssize_t pwritev(int fd, const struct iovec *parts, int number, off_t at) {
    REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
    WRITE_BODY("write", fd, real_pwritev(fd, parts, number, at), syscall(SYS_pwrite64, fd, FIRST(parts, number), at));
}
ssize_t pwritev64(int fd, const struct iovec *parts, int number, off64_t at) {
    REAL(ssize_t, pwritev64, int, const struct iovec *, int, off64_t);
    WRITE_BODY("write", fd, real_pwritev64(fd, parts, number, at),
               syscall(SYS_pwrite64, fd, FIRST(parts, number), at));
}
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned flags) {
    REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned);
    WRITE_BODY("copy_file_range", to, real_copy_file_range(from, from_at, to, to_at, len, flags),
               real_copy_file_range(from, from_at, to, to_at, len / 2, flags));
}
ssize_t sendfile(int to, int from, off_t *at, size_t len) {
    REAL(ssize_t, sendfile, int, int, off_t *, size_t);
    WRITE_BODY("sendfile", to, real_sendfile(to, from, at, len), real_sendfile(to, from, at, len / 2));
}
ssize_t sendfile64(int to, int from, off64_t *at, size_t len) {
    REAL(ssize_t, sendfile64, int, int, off64_t *, size_t);
    WRITE_BODY("sendfile", to, real_sendfile64(to, from, at, len), real_sendfile64(to, from, at, len / 2));
}
ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned flags) {
    REAL(ssize_t, splice, int, off64_t *, int, off64_t *, size_t, unsigned);
    WRITE_BODY("sendfile", to, real_splice(from, from_at, to, to_at, len, flags),
               real_splice(from, from_at, to, to_at, len / 2, flags));
}

/* Everything else succeeds or fails as a whole. */

#define STRIP(...) __VA_ARGS__
#define WHOLE_BODY(symbol, given)              \
    if (call.verdict == FAIL) return -1;       \
    int got = real_##symbol given;             \
    returned(&call, got < 0);                  \
    return got
#define BY_PATH(symbol, name, parameters, given, folder, path, to_folder, to) \
    int symbol parameters {                                                   \
        REAL(int, symbol, STRIP parameters);                                  \
        struct call call;                                                     \
        judge_at(&call, name, folder, path, to_folder, to);                   \
        WHOLE_BODY(symbol, given);                                            \
    }
#define BY_FD(symbol, name, parameters, given) \
    int symbol parameters {                    \
        REAL(int, symbol, STRIP parameters);   \
        struct call call;                      \
        judge_fd(&call, name, fd, 0);          \
        WHOLE_BODY(symbol, given);             \
    }

BY_PATH(rename, "rename", (const char *from, const char *to), (from, to), AT_FDCWD, from, AT_FDCWD, to)
BY_PATH(renameat, "rename", (int a, const char *from, int b, const char *to), (a, from, b, to), a, from, b, to)
BY_PATH(renameat2, "rename", (int a, const char *from, int b, const char *to, unsigned flags),
        (a, from, b, to, flags), a, from, b, to)
BY_PATH(link, "link", (const char *from, const char *to), (from, to), AT_FDCWD, from, AT_FDCWD, to)
BY_PATH(linkat, "link", (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), a, from,
        b, to)
BY_PATH(symlink, "symlink", (const char *target, const char *at), (target, at), AT_FDCWD, at, 0, NULL)
BY_PATH(symlinkat, "symlink", (const char *target, int a, const char *at), (target, a, at), a, at, 0, NULL)
BY_PATH(unlink, "unlink", (const char *path), (path), AT_FDCWD, path, 0, NULL)
BY_PATH(unlinkat, (flags & AT_REMOVEDIR) ? "rmdir" : "unlink", (int a, const char *path, int flags), (a, path, flags),
        a, path, 0, NULL)
BY_PATH(remove, "unlink", (const char *path), (path), AT_FDCWD, path, 0, NULL)
BY_PATH(mkdir, "mkdir", (const char *path, mode_t mode), (path, mode), AT_FDCWD, path, 0, NULL)
BY_PATH(mkdirat, "mkdir", (int a, const char *path, mode_t mode), (a, path, mode), a, path, 0, NULL)
BY_PATH(rmdir, "rmdir", (const char *path), (path), AT_FDCWD, path, 0, NULL)
BY_PATH(truncate, "truncate", (const char *path, off_t len), (path, len), AT_FDCWD, path, 0, NULL)
BY_PATH(truncate64, "truncate", (const char *path, off64_t len), (path, len), AT_FDCWD, path, 0, NULL)
BY_PATH(utimensat, "utimes", (int a, const char *path, const struct timespec times[2], int flags),
        (a, path, times, flags), a, path, 0, NULL)
BY_PATH(utimes, "utimes", (const char *path, const struct timeval times[2]), (path, times), AT_FDCWD, path, 0, NULL)
BY_PATH(chmod, "chmod", (const char *path, mode_t mode), (path, mode), AT_FDCWD, path, 0, NULL)
BY_PATH(fchmodat, "chmod", (int a, const char *path, mode_t mode, int flags), (a, path, mode, flags), a, path, 0, NULL)
BY_PATH(chown, "chown", (const char *path, uid_t user, gid_t group), (path, user, group), AT_FDCWD, path, 0, NULL)

BY_FD(ftruncate, "truncate", (int fd, off_t len), (fd, len))
BY_FD(ftruncate64, "truncate", (int fd, off64_t len), (fd, len))
BY_FD(fsync, "fsync", (int fd), (fd))
BY_FD(fdatasync, "fsync", (int fd), (fd))
BY_FD(syncfs, "fsync", (int fd), (fd))
BY_FD(sync_file_range, "fsync", (int fd, off64_t at, off64_t len, unsigned flags), (fd, at, len, flags))
BY_FD(fallocate, "fallocate", (int fd, int mode, off_t at, off_t len), (fd, mode, at, len))
BY_FD(fallocate64, "fallocate", (int fd, int mode, off64_t at, off64_t len), (fd, mode, at, len))
BY_FD(futimens, "utimes", (int fd, const struct timespec times[2]), (fd, times))
BY_FD(fchmod, "chmod", (int fd, mode_t mode), (fd, mode))
BY_FD(fchown, "chown", (int fd, uid_t user, gid_t group), (fd, user, group))

/* These return the error instead of setting errno. */
#define POSIX_FALLOCATE(symbol, offset)                  \
    int symbol(int fd, offset at, offset len) {          \
        REAL(int, symbol, int, offset, offset);          \
        struct call call;                                \
        judge_fd(&call, "fallocate", fd, 0);             \
        if (call.verdict == FAIL) return errno;          \
        int got = real_##symbol(fd, at, len);            \
        returned(&call, got != 0);                       \
        return got;                                      \
    }
POSIX_FALLOCATE(posix_fallocate, off_t)
POSIX_FALLOCATE(posix_fallocate64, off64_t)
