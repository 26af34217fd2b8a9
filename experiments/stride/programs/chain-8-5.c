#define LINKS 8
#define PADDING 5
#include "../../../programs/fail/papers/chain.c"
