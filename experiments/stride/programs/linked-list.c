#define N 10
#include "../../../programs/fail/papers/linked_list.c"
