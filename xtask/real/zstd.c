// Two workers compress four pieces, each flushed into a job of its own; what comes back must be what went in.
#include <assert.h>
#include <string.h>
#include <zstd.h>

#define SIZE (16 * 1024)
static char input[SIZE], packed[2 * SIZE], back[SIZE];

int main(void) {
    for (int i = 0; i < SIZE; i++) input[i] = (i >> 4) ^ (i >> 9);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert(!ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 2)));
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 10);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_outBuffer out = {packed, sizeof packed, 0};
    for (int i = 0; i < 4; i++) {
        ZSTD_inBuffer in = {input + i * SIZE / 4, SIZE / 4, 0};
        while (in.pos < in.size) assert(!ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)));
    }
    ZSTD_inBuffer none = {NULL, 0, 0};
    for (size_t left = 1; left;) assert(!ZSTD_isError(left = ZSTD_compressStream2(context, &out, &none, ZSTD_e_end)));
    ZSTD_freeCCtx(context);
    assert(ZSTD_decompress(back, SIZE, packed, out.pos) == SIZE);
    assert(memcmp(input, back, SIZE) == 0);
    return 0;
}
