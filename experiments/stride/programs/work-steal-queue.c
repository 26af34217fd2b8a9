#define N 20
#include "../../../programs/fail/papers/work_steal_queue.c"
