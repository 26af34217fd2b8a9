//@ expect: assert
//@ execs: 4000
//@ unnamed: page->n_pins++; | page->block = block;
//@ undetected: the lock is released while the page is chosen, and nothing says that the pins and the block belong together
//@ says: pages[0].block T2 T3
// A page cache. Eviction chooses a page without pins, releases the bucket to write the page back, and afterwards asks only
// whether it has become dirty again, not whether somebody has pinned it.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { PAGES = 4, BLOCKS = 8, BUCKETS = 2 };

struct page {
    pthread_mutex_t latch;
    int block;
    int n_pins;
    bool is_dirty;
    unsigned last_use;
    int content;
};

static struct page pages[PAGES];
static pthread_mutex_t buckets[BUCKETS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static struct {
    pthread_mutex_t lock;
    int blocks[BLOCKS];
    int n_reads, n_writes;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct {
    pthread_mutex_t lock;
    unsigned now;
    int n_hits, n_misses;
} usage = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int disk_read(int block)
{
    pthread_mutex_lock(&disk.lock);
    int content = disk.blocks[block];
    disk.n_reads++;
    pthread_mutex_unlock(&disk.lock);
    return content;
}

static void disk_write(int block, int content)
{
    pthread_mutex_lock(&disk.lock);
    disk.blocks[block] = content;
    disk.n_writes++;
    pthread_mutex_unlock(&disk.lock);
}

static unsigned tick(bool is_hit)
{
    pthread_mutex_lock(&usage.lock);
    unsigned now = ++usage.now;
    usage.n_hits += is_hit;
    usage.n_misses += !is_hit;
    pthread_mutex_unlock(&usage.lock);
    return now;
}

static struct page *find(int block)
{
    for (int i = block % BUCKETS; i < PAGES; i += BUCKETS)
        if (pages[i].block == block)
            return &pages[i];
    return NULL;
}

static struct page *oldest(int bucket)
{
    struct page *found = NULL;
    for (int i = bucket; i < PAGES; i += BUCKETS)
        if (pages[i].n_pins == 0 && (!found || pages[i].last_use < found->last_use))
            found = &pages[i];
    return found;
}

static void write_back(struct page *page, int bucket)
{
    int block = page->block, content = page->content;
    page->is_dirty = false;
    pthread_mutex_unlock(&buckets[bucket]);
    disk_write(block, content);
    pthread_mutex_lock(&buckets[bucket]);
}

// Called and left with the bucket held.
static struct page *make_room(int bucket, int block)
{
    for (;;) {
        struct page *page = oldest(bucket);
        if (!page)
            return NULL;
        if (page->is_dirty)
            write_back(page, bucket);
        if (page->is_dirty)
            continue;
#ifdef FIXED
        if (page->n_pins != 0)
            continue;
#endif
        page->block = block;
        page->content = disk_read(block);
        return page;
    }
}

static struct page *pin(int block)
{
    int bucket = block % BUCKETS;
    pthread_mutex_lock(&buckets[bucket]);
    struct page *page = find(block);
    bool is_hit = page != NULL;
    if (!page)
        page = make_room(bucket, block);
    if (page) {
        page->n_pins++;
        page->last_use = tick(is_hit);
    }
    pthread_mutex_unlock(&buckets[bucket]);
    return page;
}

static void unpin(struct page *page, int bucket)
{
    pthread_mutex_lock(&buckets[bucket]);
    page->n_pins--;
    pthread_mutex_unlock(&buckets[bucket]);
}

static void touch(int block, int add)
{
    struct page *page = pin(block);
    if (!page)
        return;
    pthread_mutex_lock(&page->latch);
    assert(page->block == block);
    page->content += add;
    pthread_mutex_unlock(&page->latch);
    if (add) {
        pthread_mutex_lock(&buckets[block % BUCKETS]);
        page->is_dirty = true;
        pthread_mutex_unlock(&buckets[block % BUCKETS]);
    }
    unpin(page, block % BUCKETS);
}

static void *writer(void *arg)
{
    for (int i = 0; i < 4; i++)
        touch(i == 2 ? 0 : 1, i == 2);
    return arg;
}

static void *scanner(void *arg)
{
    for (int block = 3; block < BLOCKS - 3; block++)
        touch(block, 0);
    return arg;
}

static void *reader(void *arg)
{
    for (int i = 0; i < 4; i++)
        touch(3 - i, 0);
    return arg;
}

int main(void)
{
    for (int i = 0; i < PAGES; i++) {
        pthread_mutex_init(&pages[i].latch, NULL);
        pages[i].block = i;
    }
    void *(*const bodies[])(void *) = {writer, scanner, reader};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
