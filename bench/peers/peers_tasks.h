/* Template: methods and ratios of a contest in which tasks spawn tasks, for an application of ours and four libraries.
 *
 * Define first: PEERS_PEER(library), the function that does the work with that library; run_peer, which calls it;
 * run_sequential; right_sequential and right_peer, which verify results. The work begins with a peers_app. */
#ifdef BENCH_TBB
static int run_tbb(peers_run *run) { return run_peer(run, PEERS_PEER(tbb)); }
#else
#define run_tbb NULL
#endif
#ifdef BENCH_OPENMP
static int run_openmp(peers_run *run) { return run_peer(run, PEERS_PEER(openmp)); }
#else
#define run_openmp NULL
#endif
#ifdef BENCH_LACE
static int run_lace(peers_run *run) { return run_peer(run, PEERS_PEER(lace)); }
#else
#define run_lace NULL
#endif
#ifdef BENCH_TASKFLOW
static int run_taskflow(peers_run *run) { return run_peer(run, PEERS_PEER(taskflow)); }
#else
#define run_taskflow NULL
#endif

static int run_ours(peers_run *run) { return peers_app_run(run->work, run); }
static bool right_ours(const peers_run *run) { return peers_app_right(run->work, run); }

/* FURTHER: the first of the contest's own methods */
enum { SEQUENTIAL, BALLAST, TBB, OPENMP, LACE, TASKFLOW, FURTHER };
enum { BOTH = PEERS_ON_ONE | PEERS_ON_ALL };

#define PEERS_TASK_METHODS                                                                                             \
    [SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_sequential, right_sequential},                                     \
    [BALLAST] = {"Ballast", BOTH, run_ours, right_ours}, [TBB] = {"oneTBB", BOTH, run_tbb, right_peer},                \
    [OPENMP] = {"OpenMP", BOTH, run_openmp, right_peer}, [LACE] = {"Lace", BOTH, run_lace, right_peer},                \
    [TASKFLOW] = {"Taskflow", BOTH, run_taskflow, right_peer}

/* Bounds: time on one thread over the twin's, speed-up per thread, speed over oneTBB's and OpenMP's. 0: only shown. */
#define PEERS_TASK_PROMISES(sequential, speed_up, libraries)                                                           \
    {"Ballast on 1 thread / sequential", {BALLAST, PEERS_ONE}, {SEQUENTIAL, PEERS_ONE}, sequential, true, false},      \
        {"speed-up of Ballast on all threads", {BALLAST, PEERS_ONE}, {BALLAST, PEERS_ALL}, speed_up, false, true},     \
        {"Ballast over oneTBB, all threads", {TBB, PEERS_ALL}, {BALLAST, PEERS_ALL}, libraries, false, false},         \
        {"Ballast over OpenMP, all threads", {OPENMP, PEERS_ALL}, {BALLAST, PEERS_ALL}, libraries, false, false},      \
        {"Ballast over Lace, all threads", {LACE, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false}, {                \
        "Ballast over Taskflow, all threads", {TASKFLOW, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false             \
    }
