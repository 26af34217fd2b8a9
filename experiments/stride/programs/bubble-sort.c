#define N 9
#include "../../../programs/fail/papers/bubble_sort.c"
