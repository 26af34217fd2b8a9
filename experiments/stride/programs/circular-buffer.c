#define SIZE 10
#include "../../../programs/fail/papers/circular_buffer.c"
