#define PLAYERS 18
#include "../../../programs/fail/papers/ping_pong.c"
