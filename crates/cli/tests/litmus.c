// A litmus test as a program: `litmus "Wx 1 rlx; Ry rlx | Wy 1 rlx; Rx rlx" "0 0"` aborts if the outcome shows.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum order { RLX, ACQ, REL, ACQREL, SC };
struct instr { char kind; int at, value, new; enum order order, failure; };

static struct { _Alignas(64) atomic_int it; } places[3];
static struct instr code[4][8];
static int n_instrs[4], seen[4][16], n_seen[4];

#define BY_ORDER(order, op) \
    switch (order) { \
    case RLX: op(memory_order_relaxed); break; \
    case ACQ: op(memory_order_acquire); break; \
    case REL: op(memory_order_release); break; \
    case ACQREL: op(memory_order_acq_rel); break; \
    case SC: op(memory_order_seq_cst); break; \
    }
#define LOAD(order) found = atomic_load_explicit(at, order)
#define STORE(order) atomic_store_explicit(at, it->value, order)
#define ADD(order) found = atomic_fetch_add_explicit(at, it->value, order)
#define FENCE(order) atomic_thread_fence(order)
#define CAS(order) \
    switch (it->failure) { \
    case RLX: done = EXCHANGE(at, &found, it->new, order, memory_order_relaxed); break; \
    case ACQ: done = EXCHANGE(at, &found, it->new, order, memory_order_acquire); break; \
    default: done = EXCHANGE(at, &found, it->new, order, memory_order_seq_cst); break; \
    }

static void perform(int thread, const struct instr *it)
{
    atomic_int *at = &places[it->at].it;
    int found = it->value, done = -1;
    switch (it->kind) {
    case 'R': BY_ORDER(it->order, LOAD); break;
    case 'W': BY_ORDER(it->order, STORE); return;
    case 'U': BY_ORDER(it->order, ADD); break;
    case 'F': BY_ORDER(it->order, FENCE); return;
#define EXCHANGE atomic_compare_exchange_strong_explicit
    case 'C': BY_ORDER(it->order, CAS); break;
#undef EXCHANGE
#define EXCHANGE atomic_compare_exchange_weak_explicit
    case 'c': BY_ORDER(it->order, CAS); break;
    }
    seen[thread][n_seen[thread]++] = found;
    if (done >= 0)
        seen[thread][n_seen[thread]++] = done;
}

static void *run(void *number)
{
    int thread = (int)(size_t)number;
    for (int i = 0; i < n_instrs[thread]; i++)
        perform(thread, &code[thread][i]);
    return NULL;
}

static enum order order_of(const char *word)
{
    static const char *const names[] = {"rlx", "acq", "rel", "acqrel", "sc"};
    for (int i = 0; i < 5; i++)
        if (!strcmp(word, names[i]))
            return i;
    fprintf(stderr, "unknown order: %s\n", word);
    exit(3);
}

static struct instr parse(char *text)
{
    char *words[5] = {0}, *rest = NULL;
    int n = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    struct instr it = {.kind = words[0][0], .order = order_of(words[n - 1])};
    if (it.kind != 'F')
        it.at = words[0][1] - 'x';
    if (it.kind == 'W' || it.kind == 'U')
        it.value = atoi(words[1]);
    if (it.kind == 'C' || it.kind == 'c') {
        it.value = atoi(words[1]);
        it.new = atoi(words[2]);
        it.order = order_of(words[3]);
        it.failure = order_of(words[4]);
    }
    return it;
}

int main(int argc, char **argv)
{
    (void)argc;
    pthread_t threads[4];
    int n_threads = 0;
    char outcome[200] = "", *rest = NULL;
    for (char *thread = strtok_r(argv[1], "|", &rest); thread; thread = strtok_r(NULL, "|", &rest)) {
        char *left = NULL;
        for (char *text = strtok_r(thread, ";", &left); text; text = strtok_r(NULL, ";", &left))
            code[n_threads][n_instrs[n_threads]++] = parse(text);
        n_threads++;
    }
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, run, (void *)(size_t)i);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < n_threads; i++)
        for (int j = 0; j < n_seen[i]; j++)
            sprintf(outcome + strlen(outcome), "%d ", seen[i][j]);
    if (strchr(argv[2], '/'))
        sprintf(outcome + strlen(outcome), "/ %d %d %d ", places[0].it, places[1].it, places[2].it);
    char *wanted = argv[2] + strspn(argv[2], " ");
    if (strlen(outcome) == strlen(wanted) + 1 && !strncmp(outcome, wanted, strlen(wanted)))
        abort();
    return 0;
}
