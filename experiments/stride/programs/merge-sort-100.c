#define N 200
#define THREADS 100
#include "../../../programs/fail/papers/merge_sort.c"
