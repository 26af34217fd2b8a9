/* Parallel kernels of four threads that compute for long and synchronise rarely. None has a data race.
   Arguments: which one (see `KERNELS`), how many rounds. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "meter.h"

enum { N_THREADS = 4 };

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n_rounds;
static double checksum;

static uint32_t mixed(uint32_t state) {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ state << 5;
}

static double *numbers(size_t n) {
    double *numbers = malloc(n * sizeof *numbers);
    uint32_t state = 7;
    for (size_t i = 0; i < n; i++) {
        state = mixed(state);
        numbers[i] = state % 1000 / 10.0;
    }
    return numbers;
}

static void add_to_checksum(double part) {
    pthread_mutex_lock(&lock);
    checksum += part;
    pthread_mutex_unlock(&lock);
}

static size_t part_of(size_t n, long me) { return n * me / N_THREADS; }

/* Matrix product: two matrices that all read, one of which each thread writes some rows. */

enum { SIDE = 240 };
static double *left, *right, *product;

static void prepare_matrix(void) {
    left = numbers(SIDE * SIDE);
    right = numbers(SIDE * SIDE);
    product = calloc(SIDE * SIDE, sizeof *product);
}

static void run_matrix(long me) {
    for (size_t i = part_of(SIDE, me); i < part_of(SIDE, me + 1); i++)
        for (size_t k = 0; k < SIDE; k++)
            for (size_t j = 0; j < SIDE; j++)
                product[i * SIDE + j] += left[i * SIDE + k] * right[k * SIDE + j];
}

/* Stencil: two grids, of which each step reads one, neighbours' rows too, and writes the other. */

enum { GRID = 512 };
static double *grids[2];

static void prepare_stencil(void) {
    grids[0] = numbers(GRID * GRID);
    grids[1] = numbers(GRID * GRID);
}

static void run_stencil(long me) {
    for (int step = 0; step < 8; step++) {
        double *from = grids[step % 2], *to = grids[1 - step % 2];
        for (size_t y = part_of(GRID, me); y < part_of(GRID, me + 1); y++) {
            if (y == 0 || y == GRID - 1)
                continue;
            for (size_t x = 1; x < GRID - 1; x++) {
                size_t at = y * GRID + x;
                to[at] = (from[at - 1] + from[at + 1] + from[at - GRID] + from[at + GRID]) / 4;
            }
        }
        pthread_barrier_wait(&barrier);
    }
}

/* N-body: each thread reads all positions, and moves its own bodies once all have. */

enum { BODIES = 1000 };
struct body {
    double x, y, z, vx, vy, vz, mass;
};
static struct body bodies[BODIES];

static void prepare_bodies(void) {
    double *from = numbers(4 * BODIES);
    for (int i = 0; i < BODIES; i++)
        bodies[i] = (struct body){from[4 * i], from[4 * i + 1], from[4 * i + 2], 0, 0, 0, from[4 * i + 3]};
    free(from);
}

static void run_bodies(long me) {
    for (int step = 0; step < 3; step++) {
        for (size_t i = part_of(BODIES, me); i < part_of(BODIES, me + 1); i++) {
            double ax = 0, ay = 0, az = 0;
            for (size_t j = 0; j < BODIES; j++) {
                double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
                double distance = dx * dx + dy * dy + dz * dz + 0.01;
                double pull = bodies[j].mass / (distance * sqrt(distance));
                ax += dx * pull;
                ay += dy * pull;
                az += dz * pull;
            }
            bodies[i].vx += ax * 0.01;
            bodies[i].vy += ay * 0.01;
            bodies[i].vz += az * 0.01;
        }
        pthread_barrier_wait(&barrier);
        for (size_t i = part_of(BODIES, me); i < part_of(BODIES, me + 1); i++) {
            bodies[i].x += bodies[i].vx * 0.01;
            bodies[i].y += bodies[i].vy * 0.01;
            bodies[i].z += bodies[i].vz * 0.01;
        }
        pthread_barrier_wait(&barrier);
    }
}

/* Ray tracer: lines of pixels are handed out under a lock; the scene is only read. */

enum { SPHERES = 24, WIDTH = 320, HEIGHT = 240 };
static struct sphere {
    double x, y, z, radius, colour;
} spheres[SPHERES];
static unsigned char picture[WIDTH * HEIGHT];
static int next_line;

static void prepare_scene(void) {
    double *from = numbers(4 * SPHERES);
    for (int i = 0; i < SPHERES; i++)
        spheres[i] = (struct sphere){from[4 * i] - 50, from[4 * i + 1] - 50, from[4 * i + 2] + 100, 8, from[4 * i + 3]};
    free(from);
}

static unsigned char trace(double dx, double dy) {
    double length = sqrt(dx * dx + dy * dy + 1), nearest = 1e9, colour = 0;
    dx /= length, dy /= length;
    double dz = 1 / length;
    for (int i = 0; i < SPHERES; i++) {
        double along = spheres[i].x * dx + spheres[i].y * dy + spheres[i].z * dz;
        double centre = spheres[i].x * spheres[i].x + spheres[i].y * spheres[i].y + spheres[i].z * spheres[i].z;
        double inside = spheres[i].radius * spheres[i].radius - centre + along * along;
        if (inside > 0 && along - sqrt(inside) < nearest) {
            nearest = along - sqrt(inside);
            colour = spheres[i].colour;
        }
    }
    return (unsigned char)(colour * 255 / 100);
}

static void run_scene(long me) {
    (void)me;
    for (;;) {
        pthread_mutex_lock(&lock);
        int y = next_line++ % (HEIGHT + N_THREADS);
        pthread_mutex_unlock(&lock);
        if (y >= HEIGHT)
            break;
        for (int x = 0; x < WIDTH; x++)
            picture[y * WIDTH + x] = trace((x - WIDTH / 2) / 200.0, (y - HEIGHT / 2) / 200.0);
    }
    pthread_barrier_wait(&barrier);
}

/* Histogram: bytes that all read a part of, counts of each thread, a sum under a lock. */

enum { SAMPLES = 3 << 20 };
static unsigned char *samples;
static long totals[256];

static void prepare_samples(void) {
    samples = malloc(SAMPLES);
    uint32_t state = 3;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (unsigned char)((state = mixed(state)) >> 9);
}

static void run_histogram(long me) {
    long counts[256] = {0};
    for (size_t i = part_of(SAMPLES, me); i < part_of(SAMPLES, me + 1); i++)
        counts[samples[i]]++;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 256; i++)
        totals[i] += counts[i];
    pthread_mutex_unlock(&lock);
}

/* Block compressor: blocks of input are handed out under a lock, and each is compressed into a buffer that is used again. */

enum { BLOCK = 1 << 14, BLOCKS = 64, HASHES = 1 << 12 };
static unsigned char *input, *output;
static size_t sizes[BLOCKS];
static int next_block;

static void prepare_blocks(void) {
    input = malloc((size_t)BLOCK * BLOCKS);
    output = malloc(2 * (size_t)BLOCK * BLOCKS);
    uint32_t state = 5;
    for (size_t i = 0; i < (size_t)BLOCK * BLOCKS; i++)
        input[i] = i % 7 ? input[i - 1] : (unsigned char)((state = mixed(state)) >> 28);
}

static size_t compress(const unsigned char *from, unsigned char *to) {
    unsigned short last[HASHES];
    memset(last, 0, sizeof last);
    size_t n = 0;
    for (size_t i = 0; i + 4 < BLOCK;) {
        uint32_t word = from[i] | from[i + 1] << 8 | from[i + 2] << 16;
        unsigned hash = word * 2654435761u >> 20;
        size_t at = last[hash], length = 0;
        last[hash] = (unsigned short)i;
        while (at < i && i + length < BLOCK && length < 255 && from[at + length] == from[i + length])
            length++;
        if (length > 3) {
            to[n++] = 255;
            to[n++] = (unsigned char)length;
            to[n++] = (unsigned char)(i - at);
            i += length;
        } else {
            to[n++] = from[i++];
        }
    }
    return n;
}

static void run_blocks(long me) {
    (void)me;
    for (;;) {
        pthread_mutex_lock(&lock);
        int block = next_block++ % (BLOCKS + N_THREADS);
        pthread_mutex_unlock(&lock);
        if (block >= BLOCKS)
            break;
        sizes[block] = compress(input + (size_t)block * BLOCK, output + 2 * (size_t)block * BLOCK);
    }
    pthread_barrier_wait(&barrier);
}

/* K-means: points that each thread reads a part of, centres that all read and one thread moves. */

enum { POINTS = 60000, CENTRES = 8, DIMENSIONS = 4 };
static double *points, centres[CENTRES][DIMENSIONS];
static int nearest_of[POINTS];
static double sums[N_THREADS][CENTRES][DIMENSIONS + 1];

static void prepare_points(void) {
    points = numbers(POINTS * DIMENSIONS);
    memcpy(centres, points, sizeof centres);
}

static void run_k_means(long me) {
    for (int step = 0; step < 3; step++) {
        memset(sums[me], 0, sizeof sums[me]);
        for (size_t i = part_of(POINTS, me); i < part_of(POINTS, me + 1); i++) {
            double best = 1e18;
            int nearest = 0;
            for (int k = 0; k < CENTRES; k++) {
                double distance = 0;
                for (int d = 0; d < DIMENSIONS; d++) {
                    double apart = points[i * DIMENSIONS + d] - centres[k][d];
                    distance += apart * apart;
                }
                if (distance < best)
                    best = distance, nearest = k;
            }
            nearest_of[i] = nearest;
            for (int d = 0; d < DIMENSIONS; d++)
                sums[me][nearest][d] += points[i * DIMENSIONS + d];
            sums[me][nearest][DIMENSIONS]++;
        }
        pthread_barrier_wait(&barrier);
        if (me == 0)
            for (int k = 0; k < CENTRES; k++)
                for (int d = 0; d < DIMENSIONS; d++) {
                    double sum = 0, n = 0;
                    for (int t = 0; t < N_THREADS; t++)
                        sum += sums[t][k][d], n += sums[t][k][DIMENSIONS];
                    if (n > 0)
                        centres[k][d] = sum / n;
                }
        pthread_barrier_wait(&barrier);
    }
}

/* Graph search, level by level: each thread looks for nodes of its own next to the last level. */

enum { NODES = 40000, DEGREE = 8 };
static int *edges, *level_of;

static void prepare_graph(void) {
    edges = malloc(sizeof *edges * NODES * DEGREE);
    level_of = malloc(sizeof *level_of * NODES);
    uint32_t state = 11;
    for (size_t i = 0; i < NODES * DEGREE; i++)
        edges[i] = (int)((state = mixed(state)) % NODES);
}

static void run_graph(long me) {
    size_t first = part_of(NODES, me), last = part_of(NODES, me + 1);
    for (size_t i = first; i < last; i++)
        level_of[i] = i == 0 ? 0 : -1;
    pthread_barrier_wait(&barrier);
    static int found[NODES];
    for (int level = 0; level < 8; level++) {
        for (size_t i = first; i < last; i++) {
            found[i] = 0;
            for (int edge = 0; edge < DEGREE && level_of[i] < 0; edge++)
                found[i] |= level_of[edges[i * DEGREE + edge]] == level;
        }
        pthread_barrier_wait(&barrier);
        for (size_t i = first; i < last; i++)
            if (found[i])
                level_of[i] = level + 1;
        pthread_barrier_wait(&barrier);
    }
}

static const struct kernel {
    void (*prepare)(void);
    void (*run)(long me);
} KERNELS[] = {
    {prepare_matrix, run_matrix},     {prepare_stencil, run_stencil}, {prepare_bodies, run_bodies},
    {prepare_scene, run_scene},       {prepare_samples, run_histogram}, {prepare_blocks, run_blocks},
    {prepare_points, run_k_means},    {prepare_graph, run_graph},
};
static const struct kernel *kernel;

static void *work(void *arg) {
    for (long round = 0; round < n_rounds; round++)
        kernel->run((long)arg);
    add_to_checksum((double)(long)arg);
    return NULL;
}

int main(int argc, char **argv) {
    kernel = &KERNELS[number_arg(argc, argv, 1, 0)];
    n_rounds = number_arg(argc, argv, 2, 1);
    pthread_barrier_init(&barrier, NULL, N_THREADS);
    kernel->prepare();
    long long start = cpu_ns();
    pthread_t threads[N_THREADS];
    for (long i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    tell(cpu_ns() - start);
    return checksum == 6 ? 0 : 1;
}
