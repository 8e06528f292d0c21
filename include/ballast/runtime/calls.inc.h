/* Template: the functions of BL_PROGRAM, each behind one of the same signature. So a function that is missing or has
 * another signature is one message that names the macro, and not as many as there are schedulers. The worker calls
 * them by the same macros afterwards. */
#define BL__CALLS(x) BL_CAT(BL__OF_PROGRAM, _calls_##x)

#ifdef BL_RANGE_RUN
#define BL__PIECES 1
typedef void (*BL__CALLS(range_run_type))(bl_task *, const BL_PAYLOAD *, uint32_t, uint32_t, const BL_SHARED *,
                                          BL_LOCAL *);
BL__ASSERT(BL__IS(BL_RANGE_RUN, BL__CALLS(range_run_type)),
           "BL_RANGE_RUN must be void (bl_task *, const BL_PAYLOAD *, uint32_t begin, uint32_t end, const BL_SHARED *, "
           "BL_LOCAL *)");
static BL_TASK void BL__CALLS(run)(bl_task *t, const BL_PAYLOAD *payload, uint32_t index, uint32_t n,
                                   const BL_SHARED *shared, BL_LOCAL *local) {
    BL__GUARDED(t, payload,
                BL__AS(BL_RANGE_RUN, BL__CALLS(range_run_type))(t, payload, index, index + n, shared, local))
}
#else
#define BL__PIECES 0
typedef void (*BL__CALLS(run_type))(bl_task *, const BL_PAYLOAD *, uint32_t, const BL_SHARED *, BL_LOCAL *);
BL__ASSERT(BL__IS(BL_RUN, BL__CALLS(run_type)),
           "BL_RUN must be void (bl_task *, const BL_PAYLOAD *, uint32_t index, const BL_SHARED *, BL_LOCAL *)");
static BL_TASK void BL__CALLS(run)(bl_task *t, const BL_PAYLOAD *payload, uint32_t index, uint32_t n,
                                   const BL_SHARED *shared, BL_LOCAL *local) {
    (void)n;
    BL__GUARDED(t, payload, BL__AS(BL_RUN, BL__CALLS(run_type))(t, payload, index, shared, local))
}
#endif
#define BL__CALL BL__CALLS(run)

#ifdef BL_JOIN
typedef void (*BL__CALLS(join_type))(bl_task *, const BL_PAYLOAD *, const BL_RESULT *, uint32_t, const BL_SHARED *,
                                     BL_LOCAL *);
BL__ASSERT(BL__IS(BL_JOIN, BL__CALLS(join_type)),
           "BL_JOIN must be void (bl_task *, const BL_PAYLOAD *forked, const BL_RESULT *results, uint32_t count, "
           "const BL_SHARED *, BL_LOCAL *)");
static BL_TASK void BL__CALLS(join)(bl_task *t, const BL_PAYLOAD *forked, const BL_RESULT *results, uint32_t count,
                                    const BL_SHARED *shared, BL_LOCAL *local) {
    BL__GUARDED(t, forked, BL__AS(BL_JOIN, BL__CALLS(join_type))(t, forked, results, count, shared, local))
}
#undef BL_JOIN
#define BL_JOIN BL__CALLS(join)
#endif

#ifdef BL_BEGIN
typedef void (*BL__CALLS(begin_type))(const BL_SHARED *, BL_LOCAL *, uint32_t);
BL__ASSERT(BL__IS(BL_BEGIN, BL__CALLS(begin_type)),
           "BL_BEGIN must be void (const BL_SHARED *, BL_LOCAL *, uint32_t worker)");
static BL_TASK void BL__CALLS(begin)(const BL_SHARED *shared, BL_LOCAL *local, uint32_t worker) {
    BL__AS(BL_BEGIN, BL__CALLS(begin_type))(shared, local, worker);
}
#undef BL_BEGIN
#define BL_BEGIN BL__CALLS(begin)
#else
#define BL_BEGIN(shared, local, worker) ((void)(shared), (void)(local), (void)(worker))
#endif

#ifdef BL_MERGE
typedef void (*BL__CALLS(merge_type))(const BL_SHARED *, const BL_LOCAL *);
BL__ASSERT(BL__IS(BL_MERGE, BL__CALLS(merge_type)), "BL_MERGE must be void (const BL_SHARED *, const BL_LOCAL *)");
static BL_TASK void BL__CALLS(merge)(const BL_SHARED *shared, const BL_LOCAL *local) {
    BL__AS(BL_MERGE, BL__CALLS(merge_type))(shared, local);
}
#undef BL_MERGE
#define BL_MERGE BL__CALLS(merge)
#else
#define BL_MERGE(shared, local) ((void)(shared), (void)(local))
#endif

#ifdef BL_DONE_TEST
#define BL__HAS_DONE_TEST 1
typedef bool (*BL__CALLS(done_type))(const BL_SHARED *);
BL__ASSERT(BL__IS(BL_DONE_TEST, BL__CALLS(done_type)), "BL_DONE_TEST must be bool (const BL_SHARED *)");
static BL_TASK bool BL__CALLS(done_test)(const BL_SHARED *shared) {
    return BL__AS(BL_DONE_TEST, BL__CALLS(done_type))(shared);
}
#undef BL_DONE_TEST
#define BL_DONE_TEST BL__CALLS(done_test)
#else
#define BL__HAS_DONE_TEST 0
#define BL_DONE_TEST(shared) ((void)(shared), false)
#endif

/* Where to divide the range of `given`, of which `kept` is a copy. */
#ifdef BL_SPLIT
#define BL__SPLITS 1
typedef uint32_t (*BL__CALLS(split_type))(BL_PAYLOAD *, BL_PAYLOAD *, uint32_t, uint32_t, const BL_SHARED *);
BL__ASSERT(
    BL__IS(BL_SPLIT, BL__CALLS(split_type)),
    "BL_SPLIT must be uint32_t (BL_PAYLOAD *kept, BL_PAYLOAD *given, uint32_t begin, uint32_t end, const BL_SHARED "
    "*)");
BL_FN uint32_t BL__CALLS(split)(bl__worker *w, uint32_t *kept, uint32_t *given, const BL_SHARED *shared) {
    BL_PAYLOAD first, second; /* aligned, which entries are not */
    const uint32_t words = (uint32_t)sizeof first / 4;
    bl__words_copy((bl_word *)&first, kept + BL__ENTRY_HEAD, words);
    bl__words_copy((bl_word *)&second, given + BL__ENTRY_HEAD, words);
    uint32_t middle = BL__AS(BL_SPLIT, BL__CALLS(split_type))(&first, &second, given[0], given[1], shared);
    bl__words_copy(kept + BL__ENTRY_HEAD, (const bl_word *)&first, words);
    bl__words_copy(given + BL__ENTRY_HEAD, (const bl_word *)&second, words);
    if (middle > given[0] && middle < given[1])
        return middle;
    bl__worker_report(w, BL__SPLIT_OUTSIDE, middle);
    return given[0] + (given[1] - given[0]) / 2;
}
#define BL__MIDDLE BL__CALLS(split)
#else
#define BL__SPLITS 0
#define BL__MIDDLE(w, kept, given, shared) ((void)(shared), (given)[0] + ((given)[1] - (given)[0]) / 2)
#endif
