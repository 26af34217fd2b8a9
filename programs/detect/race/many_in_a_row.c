//@ race: w0 r0
//@ race: w1 r1
//@ race: w2 r2
//@ race: w3 r3
//@ race: w4 r4
//@ race: w5 r5
//@ race: w6 r6
//@ race: w7 r7
//@ race: w8 r8
//@ race: w9 r9
//@ race: w10 r10
//@ race: w11 r11
//@ race: w12 r12
//@ race: w13 r13
//@ race: w14 r14
//@ race: w15 r15
// Many variables in a row without a lock: no race hides behind another.
#include <pthread.h>

int v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15;
int sum; // what is never looked at would not be read

static void *first(void *arg)
{
    v0 = 1; //= w0
    v1 = 1; //= w1
    v2 = 1; //= w2
    v3 = 1; //= w3
    v4 = 1; //= w4
    v5 = 1; //= w5
    v6 = 1; //= w6
    v7 = 1; //= w7
    v8 = 1; //= w8
    v9 = 1; //= w9
    v10 = 1; //= w10
    v11 = 1; //= w11
    v12 = 1; //= w12
    v13 = 1; //= w13
    v14 = 1; //= w14
    v15 = 1; //= w15
    return arg;
}

static void *second(void *arg)
{
    int all = 0;
    all += v0; //= r0
    all += v1; //= r1
    all += v2; //= r2
    all += v3; //= r3
    all += v4; //= r4
    all += v5; //= r5
    all += v6; //= r6
    all += v7; //= r7
    all += v8; //= r8
    all += v9; //= r9
    all += v10; //= r10
    all += v11; //= r11
    all += v12; //= r12
    all += v13; //= r13
    all += v14; //= r14
    all += v15; //= r15
    sum = all;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
