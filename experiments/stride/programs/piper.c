#define PASSENGERS 4
#include "../../../programs/fail/papers/piper.c"
