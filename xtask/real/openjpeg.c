// A picture is compressed without loss and decompressed by two threads each, through a stream in memory.
#include <assert.h>
#include <openjpeg.h>
#include <string.h>

#define SIDE 64
static char bytes[1 << 16];
static size_t n_bytes, position;

static OPJ_SIZE_T write_bytes(void *from, OPJ_SIZE_T n, void *user) {
    assert(position + n <= sizeof bytes);
    memcpy(bytes + position, from, n);
    position += n;
    if (n_bytes < position) n_bytes = position;
    return n;
}

static OPJ_SIZE_T read_bytes(void *to, OPJ_SIZE_T n, void *user) {
    if (position == n_bytes) return (OPJ_SIZE_T)-1;
    if (n > n_bytes - position) n = n_bytes - position;
    memcpy(to, bytes + position, n);
    position += n;
    return n;
}

static OPJ_OFF_T skip(OPJ_OFF_T n, void *user) { return position += n, n; }
static OPJ_BOOL seek(OPJ_OFF_T n, void *user) { return position = n, OPJ_TRUE; }

static int pixel(int i) { return (i * i / 7) & 255; }

static opj_stream_t *stream(OPJ_BOOL is_input) {
    opj_stream_t *it = opj_stream_default_create(is_input);
    opj_stream_set_write_function(it, write_bytes);
    opj_stream_set_read_function(it, read_bytes);
    opj_stream_set_skip_function(it, skip);
    opj_stream_set_seek_function(it, seek);
    opj_stream_set_user_data_length(it, n_bytes);
    position = 0;
    return it;
}

int main(void) {
    opj_cparameters_t in;
    opj_dparameters_t out;
    opj_set_default_encoder_parameters(&in);
    opj_set_default_decoder_parameters(&out);
    in.tcp_numlayers = 1, in.cp_disto_alloc = 1, in.cblockw_init = in.cblockh_init = 16, in.numresolution = 3;
    opj_image_cmptparm_t part = {.dx = 1, .dy = 1, .w = SIDE, .h = SIDE, .prec = 8, .bpp = 8};
    opj_image_t *image = opj_image_create(1, &part, OPJ_CLRSPC_GRAY), *back = NULL;
    image->x1 = image->y1 = SIDE;
    for (int i = 0; i < SIDE * SIDE; i++) image->comps[0].data[i] = pixel(i);
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_J2K);
    opj_stream_t *s = stream(OPJ_FALSE);
    assert(opj_setup_encoder(codec, &in, image) && opj_codec_set_threads(codec, 2));
    assert(opj_start_compress(codec, image, s) && opj_encode(codec, s) && opj_end_compress(codec, s));
    opj_stream_destroy(s), opj_destroy_codec(codec);
    codec = opj_create_decompress(OPJ_CODEC_J2K);
    s = stream(OPJ_TRUE);
    assert(opj_setup_decoder(codec, &out) && opj_codec_set_threads(codec, 2));
    assert(opj_read_header(s, codec, &back) && opj_decode(codec, s, back) && opj_end_decompress(codec, s));
    for (int i = 0; i < SIDE * SIDE; i++) assert(back->comps[0].data[i] == pixel(i));
    opj_stream_destroy(s), opj_destroy_codec(codec);
    opj_image_destroy(image), opj_image_destroy(back);
    return 0;
}
