// A web spider of the size of WebLech: settings, addresses, HTTP, HTML and robots.txt are read, links are followed by
// priority, pages are kept with links between files, and checkpoints are written. Two spiders and a keeper share the
// frontier, the rules of hosts, the mirror and a journal; each has a lock.
//
// The web is a table (`web.h`), so every execution downloads the same. The rules of a host are downloaded by the spider
// that comes to it first; another one that comes to it meanwhile waits, and counts that in `n_waited` without the
// journal's lock, under which the keeper reads it. So there is a race in the executions in which a spider has to wait.
#include "spider/frontier.h"
#include "spider/http.h"
#include "spider/mirror.h"
#include "spider/rules.h"

/* ---- the journal ---------------------------------------------------------------------------------------- */

enum { ENTRIES = 8 };

enum event { STORED, KNOWN_FILE, FORBIDDEN, FAILED, CHECKPOINT };

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    enum event event;
    int number;
} journal[ENTRIES];
static int n_entries, n_bytes, n_failed, n_forbidden, n_waited;

/* Notes what became of an address; the oldest entries are overwritten. */
static void note(enum event event, int number, int length)
{
    pthread_mutex_lock(&journal_lock);
    journal[n_entries % ENTRIES].event = event;
    journal[n_entries % ENTRIES].number = number;
    n_entries++;
    n_bytes += length;
    n_failed += event == FAILED;
    n_forbidden += event == FORBIDDEN;
    pthread_mutex_unlock(&journal_lock);
}

/* ---- hosts ---------------------------------------------------------------------------------------------- */

enum { HOSTS_MAX = 3 };

struct host {
    char name[HOST_MAX];
    enum { RULES_UNKNOWN, RULES_ON_THE_WAY, RULES_KNOWN } state;
    struct rules rules;
};

static pthread_mutex_t hosts_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hosts_changed = PTHREAD_COND_INITIALIZER;
static struct host hosts[HOSTS_MAX];
static int n_hosts;

static struct settings settings;

/* With the lock; none if there are too many. */
static struct host *find_host(const char *name)
{
    for (int i = 0; i < n_hosts; i++)
        if (strcmp(hosts[i].name, name) == 0)
            return &hosts[i];
    if (n_hosts == HOSTS_MAX)
        return NULL;
    strcpy(hosts[n_hosts].name, name);
    return &hosts[n_hosts++];
}

static void download_rules(const struct address *address, struct rules *rules)
{
    struct address robots;
    struct response response;
    rules->n = rules->delay = 0;
    if (resolve(address, "/robots.txt", &robots) && download(&robots, &response) && response.status == 200)
        read_rules(response.body.at, settings.agent, rules);
}

/* May an address be downloaded? Finds the rules of its host out, or waits until somebody has. */
static int may_download(const struct address *address)
{
    pthread_mutex_lock(&hosts_lock);
    struct host *host = find_host(address->host);
    if (host == NULL) {
        pthread_mutex_unlock(&hosts_lock);
        return 0;
    }
    if (host->state == RULES_UNKNOWN) {
        struct rules rules;
        host->state = RULES_ON_THE_WAY;
        pthread_mutex_unlock(&hosts_lock);
        download_rules(address, &rules);
        pthread_mutex_lock(&hosts_lock);
        host->rules = rules;
        host->state = RULES_KNOWN;
        pthread_cond_broadcast(&hosts_changed);
    }
    if (host->state == RULES_ON_THE_WAY) {
        pthread_mutex_unlock(&hosts_lock);
        n_waited++;
        pthread_mutex_lock(&hosts_lock);
        while (host->state == RULES_ON_THE_WAY)
            pthread_cond_wait(&hosts_changed, &hosts_lock);
    }
    struct rules rules = host->rules;
    pthread_mutex_unlock(&hosts_lock);
    return is_allowed(&rules, address->path);
}

/* ---- spiders -------------------------------------------------------------------------------------------- */

/* Keeps a page with other links, or whatever else it is as it is. */
static int keep(const struct address *address, const struct response *response)
{
    if (strcmp(response->type, "text/html") != 0)
        return store(address, &response->body);
    struct text page;
    text_clear(&page);
    rewrite(response->body.at, address, &page);
    return store(address, &page);
}

static void follow_links(const struct address *address, const struct response *response, int depth)
{
    struct links links = {.n = 0};
    if (strcmp(response->type, "text/html") == 0)
        links_of_page(response->body.at, *address, &links);
    else if (strcmp(response->type, "text/css") == 0)
        links_of_style(response->body.at, address, &links);
    for (int i = 0; i < links.n; i++)
        add_address(&settings, &links.all[i], depth + 1);
}

static void process(struct task task)
{
    char text[ADDRESS_MAX];
    struct address address;
    struct response response;
    address_of(task.number, text);
    int is_read = resolve(NULL, text, &address);
    assert(is_read);
    if (!may_download(&address)) {
        note(FORBIDDEN, task.number, 0);
        return;
    }
    if (!download(&address, &response) || response.status != 200) {
        note(FAILED, task.number, 0);
        return;
    }
    int is_new = keep(&address, &response);
    note(is_new ? STORED : KNOWN_FILE, task.number, response.body.length);
    if (is_new)
        follow_links(&address, &response, task.depth);
}

static void *spider(void *arg)
{
    struct task task;
    while (next_task(&task)) {
        process(task);
        finish_task();
    }
    return arg;
}

/* ---- the keeper ----------------------------------------------------------------------------------------- */

static void *keeper(void *arg)
{
    int *waited = arg;
    for (int i = 0; i < settings.n_checkpoints; i++) {
        struct text text;
        text_clear(&text);
        int n = write_tasks(&text);
        assert(read_tasks(text.at) == n);
        note(CHECKPOINT, n, 0);
        pthread_mutex_lock(&journal_lock);
        *waited = n_waited;
        pthread_mutex_unlock(&journal_lock);
    }
    return arg;
}

/* ---- main ----------------------------------------------------------------------------------------------- */

static const char CONFIGURATION[] = "# What to download\n"
                                    "start = http://a.web/\n"
                                    "agent = spider\n"
                                    "order = breadth\n"
                                    "depth = 1\n"
                                    "spiders = 2\n"
                                    "checkpoints = 1\n"
                                    "exclude = *.exe\n"
                                    "interesting = http://b.web/*\n"
                                    "boring = *.png, *.css\n";

int main(void)
{
    pthread_t threads[SPIDERS_MAX + 1];
    int waited = 0;
    check_addresses();
    check_http();
    check_html();
    check_rules();
    check_settings();
    check_mirror();
    if (!read_settings(CONFIGURATION, &settings))
        return 2;
    add_address(&settings, &settings.start, 0);
    for (int i = 0; i < settings.n_spiders; i++)
        pthread_create(&threads[i], NULL, spider, NULL);
    pthread_create(&threads[settings.n_spiders], NULL, keeper, &waited);
    for (int i = 0; i <= settings.n_spiders; i++)
        pthread_join(threads[i], NULL);
    printf("%d addresses, %d files, %d bytes, %d failed, %d forbidden\n", n_known, n_files, n_bytes, n_failed, n_forbidden);
    return 0;
}
