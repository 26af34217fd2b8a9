//@ expect: crash
//@ execs: 500
//@ cause: if (ball != NULL) { | ball = NULL;
//@ says: ball T1 T3
// Players hit the ball if there is one, and it goes out: another player may be between the look and the stroke.
#include <pthread.h>
#include <stddef.h>

#ifndef PLAYERS
#define PLAYERS 3
#endif
static struct ball {
    int n_strokes;
} the_ball;
static struct ball *volatile ball = &the_ball;

static void *play(void *arg)
{
    if (ball != NULL) {
        ball->n_strokes++;
        ball = NULL; // out
    }
    return arg;
}

int main(void)
{
    pthread_t t[PLAYERS];
    for (int i = 0; i < PLAYERS; i++)
        pthread_create(&t[i], NULL, play, NULL);
    for (int i = 0; i < PLAYERS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
