#define WRITERS 4
#define EACH 10
#include "../../../programs/fail/papers/buffered_writer.c"
