// A scraper (the structure of Web-Harvest): a configuration is a list of processors, each of which reads variables of a
// context and defines others; two scrapers run their configurations over one context, and a third thread lets the user
// pause them. Few branches depend on what another thread does: whether a scraper pauses, and whether the page that the
// first defines is there when the second looks for it.
//
// `n_cached` is counted without the lock by who finds the page there, and under it by who does not.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { VARIABLES = 8, NAME_MAX_ = 12, VALUE_MAX = 64 };

/* ---- the context -------------------------------------------------------------------------------------- */

struct variable {
    char name[NAME_MAX_];
    char value[VALUE_MAX];
    int is_defined;
};

static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static struct variable context[VARIABLES];

static struct variable *slot(const char *name)
{
    for (int i = 0; i < VARIABLES; i++)
        if (strcmp(context[i].name, name) == 0)
            return &context[i];
    return NULL;
}

static void define(const char *name, const char *value)
{
    struct variable *it = slot(name);
    pthread_mutex_lock(&context_lock);
    snprintf(it->value, sizeof it->value, "%s", value);
    it->is_defined = 1;
    pthread_mutex_unlock(&context_lock);
}

static int look_up(const char *name, char *value)
{
    struct variable *it = slot(name);
    pthread_mutex_lock(&context_lock);
    int is_defined = it->is_defined;
    if (is_defined)
        memcpy(value, it->value, sizeof it->value);
    pthread_mutex_unlock(&context_lock);
    return is_defined;
}

/* ---- pausing ------------------------------------------------------------------------------------------ */

static pthread_mutex_t status_lock = PTHREAD_MUTEX_INITIALIZER;
static int is_paused, n_pauses, n_steps_done;

static void pause_if_wanted(void)
{
    pthread_mutex_lock(&status_lock);
    n_steps_done++;
    if (is_paused) {
        n_pauses++;
        is_paused = 0;
    }
    pthread_mutex_unlock(&status_lock);
}

/* ---- processors --------------------------------------------------------------------------------------- */

static int n_cached, n_fetched;

static void fetch(char *page)
{
    snprintf(page, VALUE_MAX, "<ul><li>first</li><li>second</li></ul>");
}

/* Downloads the page into a variable, unless another scraper has. */
static void run_http(const char *output)
{
    char page[VALUE_MAX];
    if (look_up(output, page)) {
        n_cached++;
        return;
    }
    fetch(page);
    define(output, page);
    pthread_mutex_lock(&status_lock);
    n_fetched++;
    n_cached = n_cached + 0;
    pthread_mutex_unlock(&status_lock);
}

/* Copies the text of the first element of a kind. */
static void run_xpath(const char *input, const char *element, const char *output)
{
    char page[VALUE_MAX], open[NAME_MAX_];
    if (!look_up(input, page))
        return;
    snprintf(open, sizeof open, "<%s>", element);
    char *begin = strstr(page, open);
    if (begin == NULL)
        return;
    begin += strlen(open);
    char *end = strchr(begin, '<');
    if (end != NULL)
        *end = '\0';
    define(output, begin);
}

static void run_template(const char *input, const char *output)
{
    char value[VALUE_MAX], text[VALUE_MAX];
    if (!look_up(input, value))
        return;
    snprintf(text, sizeof text, "item: %.40s", value);
    define(output, text);
}

/* ---- scrapers ----------------------------------------------------------------------------------------- */

struct processor {
    enum { HTTP, XPATH, TEMPLATE } kind;
    const char *input, *element, *output;
};

static void run(const struct processor *all, int n)
{
    for (int i = 0; i < n; i++) {
        pause_if_wanted();
        switch (all[i].kind) {
        case HTTP:
            run_http(all[i].output);
            break;
        case XPATH:
            run_xpath(all[i].input, all[i].element, all[i].output);
            break;
        case TEMPLATE:
            run_template(all[i].input, all[i].output);
            break;
        }
    }
}

static void *scrape_first(void *arg)
{
    static const struct processor all[] = {{HTTP, NULL, NULL, "page"}, {XPATH, "page", "li", "first"}};
    run(all, 2);
    return arg;
}

static void *scrape_second(void *arg)
{
    static const struct processor all[] = {{HTTP, NULL, NULL, "page"}, {TEMPLATE, "page", NULL, "copy"}};
    run(all, 2);
    return arg;
}

static void *user(void *arg)
{
    pthread_mutex_lock(&status_lock);
    is_paused = 1;
    pthread_mutex_unlock(&status_lock);
    return arg;
}

int main(void)
{
    static const char *const names[] = {"page", "first", "copy"};
    void *(*const bodies[])(void *) = {scrape_first, scrape_second, user};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        strcpy(context[i].name, names[i]);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d fetched, %d cached, %d pauses\n", n_fetched, n_cached, n_pauses);
    return 0;
}
