// Two clients of a memcached that runs in this process (its `main` is called `memcached_main`); SIGINT at the end.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int memcached_main(int argc, char **argv);

static char path[64];
static atomic_int n_done;

static void ask(int fd, const char *words, const char *answer) {
    char text[256];
    size_t n = 0;
    assert(write(fd, words, strlen(words)) == (ssize_t)strlen(words));
    while (n < strlen(answer)) {
        ssize_t k = read(fd, text + n, sizeof text - n);
        assert(k > 0);
        n += k;
    }
    assert(n == strlen(answer) && memcmp(text, answer, n) == 0);
}

static void *client(void *arg) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strcpy(to.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    while (connect(fd, (struct sockaddr *)&to, sizeof to)) usleep(1000);
    for (int i = 0; i < 2; i++) {
        ask(fd, "set both 0 0 5\r\nhello\r\n", "STORED\r\n");
        ask(fd, "get both\r\n", "VALUE both 0 5\r\nhello\r\nEND\r\n");
    }
    close(fd);
    if (atomic_fetch_add(&n_done, 1) == 1) {
        unlink(path);
        kill(getpid(), SIGINT);
    }
    return arg;
}

int main(int argc, char **argv) {
    snprintf(path, sizeof path, "/dev/shm/raddle-memcached-%d", getpid());
    unlink(path);
    argv[argc - 1] = path;
    pthread_t t;
    for (int i = 0; i < 2; i++) pthread_create(&t, NULL, client, NULL);
    return memcached_main(argc, argv);
}
