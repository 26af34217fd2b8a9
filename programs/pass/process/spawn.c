//@ expect: pass
//@ execs: 20
// Other programs: system, popen, posix_spawn, beside a thread that works.
#include <assert.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
extern char **environ;

static void *work(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    char line[32] = "";
    pthread_create(&thread, NULL, work, NULL);
    assert(system("exit 3") == 3 << 8);
    FILE *pipe = popen("echo hello", "r");
    assert(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "hello\n") == 0);
    assert(pclose(pipe) == 0);
    pid_t child;
    char *args[] = { "true", NULL };
    assert(posix_spawnp(&child, "true", NULL, NULL, args, environ) == 0);
    int status = 1;
    assert(waitpid(child, &status, 0) == child && status == 0);
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    assert(count == 4);
    return 0;
}
