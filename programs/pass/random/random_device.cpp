//@ expect: pass
//@ execs: 50
// std::random_device and /dev/urandom: the schedule follows what they say, so they must say the same.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <thread>
#include <unistd.h>

static std::atomic<int> count;

static void work(unsigned bits)
{
    for (int i = 0; i < 8; i++)
        if (bits >> i & 1)
            count++;
}

int main()
{
    std::random_device device;
    unsigned char bytes[4] = {};
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    assert(fd >= 0 && read(fd, bytes, 4) == 4);
    close(fd);
    FILE *file = fopen("/dev/urandom", "rb");
    assert(file && fread(bytes + 2, 1, 2, file) == 2);
    fclose(file);
    std::random_device named("/dev/urandom");
    std::thread one(work, device()), two(work, bytes[0] ^ bytes[2]), three(work, named());
    one.join();
    two.join();
    three.join();
}
