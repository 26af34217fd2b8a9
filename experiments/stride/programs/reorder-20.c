#define N 20
#include "../../../programs/fail/papers/reorder.c"
