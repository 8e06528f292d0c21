/* Template: BL_REDUCE as a BL_JOIN and, for a loop, BL_RANGE_RUN as a BL_RUN that forks blocks of it (parts/blocks.h).
 * From here on these are a program's own, and nothing else knows of reductions. */
#define BL__REDUCED(x) BL_CAT(BL__OF_PROGRAM, _reduced_##x)

typedef void (*BL__REDUCED(type))(BL_RESULT *, const BL_RESULT *);
BL__ASSERT(BL__IS(BL_REDUCE, BL__REDUCED(type)), "BL_REDUCE must be void (BL_RESULT *into, const BL_RESULT *next)");

#ifdef BL_RANGE_RUN
typedef BL_PAYLOAD BL__REDUCED(given);
typedef void (*BL__REDUCED(body_type))(bl_task *, const BL__REDUCED(given) *, uint32_t, uint32_t, const BL_SHARED *,
                                       BL_LOCAL *);
BL__ASSERT(BL__IS(BL_RANGE_RUN, BL__REDUCED(body_type)),
           "BL_RANGE_RUN must be void (bl_task *, const BL_PAYLOAD *, uint32_t begin, uint32_t end, const BL_SHARED *, "
           "BL_LOCAL *)");
BL__ASSERT(sizeof(BL_PAYLOAD) % 4 == 0,
           "the size of BL_PAYLOAD must be a multiple of 4: add a member that fills it up");
typedef struct BL__REDUCED(payload) {
    BL__REDUCED(given) given;
    bl__blocks blocks; /* of a root its own, of a child its parent's */
} BL__REDUCED(payload);
#undef BL_PAYLOAD
#define BL_PAYLOAD BL__REDUCED(payload)
#define BL__LOOP_AT ((uint32_t)sizeof(BL__REDUCED(given)))

static BL_TASK void BL__REDUCED(run)(bl_task *t, const BL_PAYLOAD *p, uint32_t index, const BL_SHARED *shared,
                                     BL_LOCAL *local) {
    const bl__blocks mine = bl_is_root(t) ? p->blocks : bl__blocks_child(p->blocks, index);
    if (!bl__blocks_are_one(mine)) {
        BL_PAYLOAD forked = {p->given, mine};
        if (t->lane == 0)
            bl_fork(t, &forked, &forked, bl__blocks_children(mine));
        return;
    }
    BL__AS(BL_RANGE_RUN, BL__REDUCED(body_type))(t, &p->given, mine.begin, mine.end, shared, local);
}
#undef BL_RANGE_RUN
#define BL_RUN BL__REDUCED(run)
#undef BL_JOIN_WIDTH
#define BL_JOIN_WIDTH BL__BLOCKS_WIDTH
#endif

static BL_TASK void BL__REDUCED(join)(bl_task *t, const BL_PAYLOAD *forked, const BL_RESULT *results, uint32_t count,
                                      const BL_SHARED *shared, BL_LOCAL *local) {
    (void)forked, (void)shared, (void)local;
    if (t->lane != 0)
        return;
#ifdef BL_OWN
    BL_RESULT all = forked->BL_OWN;
    uint32_t i = 0;
#else
    BL_RESULT all = results[0];
    uint32_t i = 1;
#endif
    for (; i < count; i++)
        BL__AS(BL_REDUCE, BL__REDUCED(type))(&all, results + i);
    bl_return(t, &all);
}
#define BL_JOIN BL__REDUCED(join)
