#define LONG 1000
#define SHORT 10
#include "../../../programs/fail/papers/long_order.c"
