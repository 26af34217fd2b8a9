#define SEATS 10
#include "../../../programs/fail/papers/airline_tickets.c"
