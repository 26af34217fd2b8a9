//@ expect: assert
// A string buffer whose calls are each locked. To append another buffer, its length is asked for in one call and its
// characters are copied in the next: in between, its owner may make it shorter.
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { ROOM = 32, EDITS = 3 };
struct buffer {
    pthread_mutex_t lock;
    int n_chars;
    char chars[ROOM];
};
static struct buffer source = {PTHREAD_MUTEX_INITIALIZER, 4, "abcd"};
static struct buffer target = {PTHREAD_MUTEX_INITIALIZER, 0, ""};

static int length(struct buffer *buffer)
{
    pthread_mutex_lock(&buffer->lock);
    int n_chars = buffer->n_chars;
    pthread_mutex_unlock(&buffer->lock);
    return n_chars;
}

static void get_chars(struct buffer *buffer, int n_chars, char *to)
{
    pthread_mutex_lock(&buffer->lock);
    assert(n_chars <= buffer->n_chars);
    memcpy(to, buffer->chars, (size_t)n_chars);
    pthread_mutex_unlock(&buffer->lock);
}

static void append(struct buffer *to, struct buffer *from)
{
    pthread_mutex_lock(&to->lock);
    int n_chars = length(from);
    get_chars(from, n_chars, to->chars + to->n_chars);
    to->n_chars += n_chars;
    pthread_mutex_unlock(&to->lock);
}

static void set_length(struct buffer *buffer, int n_chars)
{
    pthread_mutex_lock(&buffer->lock);
    for (int i = buffer->n_chars; i < n_chars; i++)
        buffer->chars[i] = '.';
    buffer->n_chars = n_chars;
    pthread_mutex_unlock(&buffer->lock);
}

static void *edit(void *arg)
{
    for (int i = 0; i < EDITS; i++) {
        set_length(&source, 0);
        set_length(&source, 4);
    }
    return arg;
}

int main(void)
{
    pthread_t editor;
    pthread_create(&editor, NULL, edit, NULL);
    append(&target, &source);
    append(&target, &source);
    pthread_join(editor, NULL);
    return 0;
}
