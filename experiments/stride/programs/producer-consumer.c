#define EACH 3
#define ITEMS 3
#include "../../../programs/fail/papers/producer_consumer.c"
