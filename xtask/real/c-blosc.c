// A context with two threads compresses, the global pool decompresses; what comes out must be what went in.
#include <assert.h>
#include <blosc.h>
#include <string.h>

#define SIZE (256 * 1024)
static int input[SIZE / 4], output[SIZE / 4];
static char packed[SIZE + BLOSC_MAX_OVERHEAD];

int main(void) {
    for (int i = 0; i < SIZE / 4; i++) input[i] = i / 7;
    blosc_init();
    blosc_set_nthreads(2);
    int n = blosc_compress_ctx(5, BLOSC_SHUFFLE, 4, SIZE, input, packed, sizeof packed, "blosclz", 32768, 2);
    assert(n > 0);
    assert(blosc_decompress(packed, output, SIZE) == SIZE);
    assert(memcmp(input, output, SIZE) == 0);
    n = blosc_compress(5, BLOSC_BITSHUFFLE, 4, SIZE, input, packed, sizeof packed);
    memset(output, 0, SIZE);
    assert(blosc_decompress_ctx(packed, output, SIZE, 2) == SIZE);
    assert(memcmp(input, output, SIZE) == 0);
    blosc_destroy();
    return 0;
}
