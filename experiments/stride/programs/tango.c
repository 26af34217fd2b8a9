#define FRAMES 10
#include "../../../programs/fail/papers/tango.c"
