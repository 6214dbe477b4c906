// Faults of a disk, for a process that is started with this library in LD_PRELOAD. It concerns
// files below FAULT_ROOT alone.
//
//   FAULT_PLUG=DIR[:DIR]  abort() first takes the power from the file systems of these folders: what
//                         was not synced is gone. Wants root, and ext4 or XFS.
//   FAULT_SKIP=WHAT       leaves syncs out: of `files`, of `folders`, or of the `log` of the database.
//   FAULT_COPY=1          a rename copies under the final name instead; FAULT_COPY=KILL:N aborts in
//                         the middle of the Nth.
//   FAULT_FAIL=CALL:N     the Nth call of `write`, `sync`, `rename`, `truncate` or `create` fails: EIO.
//   FAULT_COUNT=FILE      at its end the process writes how often it made each of these calls.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
// EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are one number; 2 leaves the journal unflushed.
#define GOING_DOWN _IOR('X', 125, unsigned int)

enum call { WRITE, SYNC, RENAME, TRUNCATE, CREATE, CALLS };
static const char *const NAMES[CALLS] = {"write", "sync", "rename", "truncate", "create"};
static atomic_int made[CALLS], copied;

void abort(void) {
    char *folders = getenv("FAULT_PLUG"), *rest = NULL;
    folders = folders ? strdup(folders) : NULL;
    for (char *folder = folders ? strtok_r(folders, ":", &rest) : NULL; folder; folder = strtok_r(NULL, ":", &rest)) {
        unsigned int how = 2;
        int fd = REAL(open)(folder, O_RDONLY);
        if (fd < 0 || ioctl(fd, GOING_DOWN, &how) != 0) {
            perror("faults: no power was cut");
            _exit(97);
        }
    }
    kill(getpid(), SIGKILL);
    _exit(98);
}

static int is_below(const char *path) {
    const char *root = getenv("FAULT_ROOT");
    return root && strncmp(path, root, strlen(root)) == 0;
}

static const char *path_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
    return path;
}

// Counts a call, and says whether it is the one that fails.
static int fails(enum call call) {
    int n = atomic_fetch_add(&made[call], 1) + 1;
    const char *fail = getenv("FAULT_FAIL");
    size_t length = strlen(NAMES[call]);
    if (fail && strncmp(fail, NAMES[call], length) == 0 && fail[length] == ':' && atoi(fail + length + 1) == n) {
        errno = EIO;
        return 1;
    }
    return 0;
}

static int fails_at(enum call call, int fd) {
    char path[4096];
    return is_below(path_of(fd, path, sizeof path)) && fails(call);
}

__attribute__((destructor)) static void count(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int call = 0; file && call < CALLS; call++) fprintf(file, "%s %d\n", NAMES[call], made[call]);
    if (file) fclose(file);
}

static int is_skipped(int fd) {
    const char *skip = getenv("FAULT_SKIP");
    char path[4096];
    struct stat found;
    if (!skip || !is_below(path_of(fd, path, sizeof path)) || fstat(fd, &found) != 0) return 0;
    int is_log = strstr(path, "-wal") != NULL, is_database = strstr(path, "state.db") != NULL;
    if (strcmp(skip, "folders") == 0) return S_ISDIR(found.st_mode);
    if (strcmp(skip, "log") == 0) return is_log;
    return strcmp(skip, "files") == 0 && S_ISREG(found.st_mode) && !is_database;
}

int fsync(int fd) { return is_skipped(fd) ? 0 : fails_at(SYNC, fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return is_skipped(fd) ? 0 : fails_at(SYNC, fd) ? -1 : REAL(fdatasync)(fd); }

ssize_t write(int fd, const void *bytes, size_t size) { return fails_at(WRITE, fd) ? -1 : REAL(write)(fd, bytes, size); }
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { return fails_at(WRITE, fd) ? -1 : REAL(pwrite)(fd, bytes, size, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) { return fails_at(WRITE, fd) ? -1 : REAL(pwrite64)(fd, bytes, size, at); }
int ftruncate(int fd, off_t size) { return fails_at(TRUNCATE, fd) ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return fails_at(TRUNCATE, fd) ? -1 : REAL(ftruncate64)(fd, size); }

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return flags & O_CREAT && is_below(path) && fails(CREATE) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return flags & O_CREAT && is_below(path) && fails(CREATE) ? -1 : REAL(open64)(path, flags, mode);
}

// What a rename is not: the content arrives under the final name piece by piece.
static int copy(const char *from, const char *to) {
    static char bytes[1 << 24];
    const char *when = getenv("FAULT_COPY");
    int n = atomic_fetch_add(&copied, 1) + 1;
    int in = REAL(open)(from, O_RDONLY), out = REAL(open)(to, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    ssize_t size = REAL(read)(in, bytes, sizeof bytes);
    if (in < 0 || out < 0 || size < 0 || REAL(write)(out, bytes, size / 2) < 0) return -1;
    if (strncmp(when, "KILL:", 5) == 0 && atoi(when + 5) == n) abort();
    if (REAL(write)(out, bytes + size / 2, size - size / 2) < 0) return -1;
    close(in);
    close(out);
    return unlink(from);
}

int rename(const char *from, const char *to) {
    if (is_below(to) && fails(RENAME)) return -1;
    return is_below(to) && getenv("FAULT_COPY") ? copy(from, to) : REAL(rename)(from, to);
}
