#define WORKERS 5
#define PIECES 4
#include "../../../programs/fail/papers/manager.c"
