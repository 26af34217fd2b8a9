// A web spider (the structure of WebLech): spiders take addresses from a queue that is ordered by depth, download
// pages, look for links in them, and put those that were not seen before into the queue. A spider that finds the queue
// empty waits for the others, for they may still find links; when no download is under way, it stops. A fourth thread
// writes checkpoints of the queue, and asks the spiders to stop after so many of them.
//
// The web is made by a function, so every execution downloads the same pages. `n_bytes`, what was downloaded in all,
// has no lock on the way of pages that are images: whether a spider gets one is decided by who takes which address.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PAGES = 6, DEPTH_MAX = 2, SPIDERS = 2, CHECKPOINTS = 2, URL_MAX = 24, TEXT_MAX = 160, QUEUE_MAX = 16 };

/* ---- addresses ---------------------------------------------------------------------------------------- */

struct url {
    char text[URL_MAX];
    int depth;
};

static int page_of(const char *text)
{
    int number = 0;
    for (const char *it = strchr(text, '/'); it != NULL && *it != '\0'; it++)
        if (*it >= '0' && *it <= '9')
            number = number * 10 + (*it - '0');
    return number;
}

static int is_image(const char *text)
{
    const char *dot = strrchr(text, '.');
    return dot != NULL && strcmp(dot, ".png") == 0;
}

static struct url make_url(int page, int depth)
{
    struct url url = {.depth = depth};
    snprintf(url.text, sizeof url.text, "web/%d.%s", page, page % 3 == 2 ? "png" : "html");
    return url;
}

/* ---- the web ------------------------------------------------------------------------------------------ */

/* Each page links to the next one and to the one after its double, as far as there are such. */
static int write_page(const char *address, char *text, int room)
{
    if (is_image(address))
        return snprintf(text, room, "PNG %s", address);
    int page = page_of(address), length = 0;
    length += snprintf(text + length, room - length, "<html><h1>%d</h1>", page);
    int targets[] = {page + 1, 2 * page + 2};
    for (int i = 0; i < 2; i++)
        if (targets[i] < PAGES) {
            struct url link = make_url(targets[i], 0);
            length += snprintf(text + length, room - length, "<a href=\"%s\">", link.text);
        }
    return length + snprintf(text + length, room - length, "</html>");
}

/* Copies the next link of a page. */
static const char *next_link(const char *text, char *link)
{
    static const char mark[] = "href=\"";
    const char *begin = strstr(text, mark);
    if (begin == NULL)
        return NULL;
    begin += sizeof mark - 1;
    const char *end = strchr(begin, '"');
    if (end == NULL || end - begin >= URL_MAX)
        return NULL;
    memcpy(link, begin, end - begin);
    link[end - begin] = '\0';
    return end;
}

/* ---- the queue ---------------------------------------------------------------------------------------- */

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;
static struct url queue[QUEUE_MAX];
static int n_queued, n_running, is_quitting;

/* Nearer addresses first; those of one depth in the order in which they came. With the lock. */
static void insert(struct url url)
{
    int at = n_queued;
    while (at > 0 && queue[at - 1].depth > url.depth) {
        queue[at] = queue[at - 1];
        at--;
    }
    queue[at] = url;
    n_queued++;
}

static struct url take_first(void)
{
    struct url first = queue[0];
    n_queued--;
    memmove(queue, queue + 1, n_queued * sizeof *queue);
    return first;
}

/* ---- what was seen ------------------------------------------------------------------------------------ */

static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static char seen[PAGES];
static int n_refused;

static int is_new(const char *address)
{
    int page = page_of(address);
    pthread_mutex_lock(&seen_lock);
    int is = page < PAGES && !seen[page];
    if (is)
        seen[page] = 1;
    else
        n_refused++;
    pthread_mutex_unlock(&seen_lock);
    return is;
}

/* ---- what came of it ---------------------------------------------------------------------------------- */

static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_pages, n_images, n_bytes, n_checkpoints;

static void count_page(int length)
{
    pthread_mutex_lock(&stats_lock);
    n_pages++;
    n_bytes += length;
    pthread_mutex_unlock(&stats_lock);
}

static void count_image(int length)
{
    pthread_mutex_lock(&stats_lock);
    n_images++;
    pthread_mutex_unlock(&stats_lock);
    n_bytes += length;
}

/* ---- spiders ------------------------------------------------------------------------------------------ */

/* An address to download; none if there will be no more. */
static int next_url(struct url *url)
{
    pthread_mutex_lock(&queue_lock);
    while (n_queued == 0 && n_running > 0 && !is_quitting)
        pthread_cond_wait(&queue_changed, &queue_lock);
    int is_there = n_queued > 0 && !is_quitting;
    if (is_there) {
        *url = take_first();
        n_running++;
    }
    pthread_mutex_unlock(&queue_lock);
    return is_there;
}

static void done(void)
{
    pthread_mutex_lock(&queue_lock);
    n_running--;
    pthread_cond_broadcast(&queue_changed);
    pthread_mutex_unlock(&queue_lock);
}

static void follow(const char *text, int depth)
{
    char link[URL_MAX];
    while ((text = next_link(text, link)) != NULL)
        if (depth < DEPTH_MAX && is_new(link)) {
            pthread_mutex_lock(&queue_lock);
            insert(make_url(page_of(link), depth + 1));
            pthread_cond_signal(&queue_changed);
            pthread_mutex_unlock(&queue_lock);
        }
}

static void *spider(void *arg)
{
    struct url url;
    char text[TEXT_MAX];
    while (next_url(&url)) {
        int length = write_page(url.text, text, sizeof text);
        if (is_image(url.text)) {
            count_image(length);
        } else {
            count_page(length);
            follow(text, url.depth);
        }
        done();
    }
    return arg;
}

/* ---- checkpoints -------------------------------------------------------------------------------------- */

static void *write_checkpoints(void *arg)
{
    for (int i = 0; i < CHECKPOINTS; i++) {
        pthread_mutex_lock(&queue_lock);
        int n_left = n_queued + n_running;
        pthread_mutex_unlock(&queue_lock);
        pthread_mutex_lock(&stats_lock);
        n_checkpoints++;
        pthread_mutex_unlock(&stats_lock);
        if (n_left == 0)
            break;
    }
    return arg;
}

int main(void)
{
    pthread_t threads[SPIDERS + 1];
    seen[0] = 1;
    insert(make_url(0, 0));
    for (int i = 0; i < SPIDERS; i++)
        pthread_create(&threads[i], NULL, spider, NULL);
    pthread_create(&threads[SPIDERS], NULL, write_checkpoints, NULL);
    for (int i = 0; i <= SPIDERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d pages, %d images, %d bytes, %d checkpoints\n", n_pages, n_images, n_bytes, n_checkpoints);
    return 0;
}
