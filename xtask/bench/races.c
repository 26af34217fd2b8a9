/* Four threads that count without a lock: 98 races, each at a line of its own. */
#include <pthread.h>

enum { N_THREADS = 4, N_RACES = 98 };
static int counters[N_RACES];

static void *work(void *arg) {
    counters[0]++;
    counters[1]++;
    counters[2]++;
    counters[3]++;
    counters[4]++;
    counters[5]++;
    counters[6]++;
    counters[7]++;
    counters[8]++;
    counters[9]++;
    counters[10]++;
    counters[11]++;
    counters[12]++;
    counters[13]++;
    counters[14]++;
    counters[15]++;
    counters[16]++;
    counters[17]++;
    counters[18]++;
    counters[19]++;
    counters[20]++;
    counters[21]++;
    counters[22]++;
    counters[23]++;
    counters[24]++;
    counters[25]++;
    counters[26]++;
    counters[27]++;
    counters[28]++;
    counters[29]++;
    counters[30]++;
    counters[31]++;
    counters[32]++;
    counters[33]++;
    counters[34]++;
    counters[35]++;
    counters[36]++;
    counters[37]++;
    counters[38]++;
    counters[39]++;
    counters[40]++;
    counters[41]++;
    counters[42]++;
    counters[43]++;
    counters[44]++;
    counters[45]++;
    counters[46]++;
    counters[47]++;
    counters[48]++;
    counters[49]++;
    counters[50]++;
    counters[51]++;
    counters[52]++;
    counters[53]++;
    counters[54]++;
    counters[55]++;
    counters[56]++;
    counters[57]++;
    counters[58]++;
    counters[59]++;
    counters[60]++;
    counters[61]++;
    counters[62]++;
    counters[63]++;
    counters[64]++;
    counters[65]++;
    counters[66]++;
    counters[67]++;
    counters[68]++;
    counters[69]++;
    counters[70]++;
    counters[71]++;
    counters[72]++;
    counters[73]++;
    counters[74]++;
    counters[75]++;
    counters[76]++;
    counters[77]++;
    counters[78]++;
    counters[79]++;
    counters[80]++;
    counters[81]++;
    counters[82]++;
    counters[83]++;
    counters[84]++;
    counters[85]++;
    counters[86]++;
    counters[87]++;
    counters[88]++;
    counters[89]++;
    counters[90]++;
    counters[91]++;
    counters[92]++;
    counters[93]++;
    counters[94]++;
    counters[95]++;
    counters[96]++;
    counters[97]++;
    return arg;
}

int main(void) {
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 3;
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
