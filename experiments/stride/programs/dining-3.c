#define SEATS 3
#include "../../../programs/fail/mutex/dining_philosophers.c"
