/* Template: the scheduler of the run, one with queues, out of the library (policy.h). */
#define BL__ENDS_ALONE 0
#define BL__EMPTY_WHEN_IDLE (w->run->policy->empty_when_idle)
#define BL__CLAIM_LEAVES (w->run->policy->claim_leaves)
#define BL__LEAVES 1

BL_FN uint32_t BL__NAME(fetch)(bl__worker *w) { return w->run->policy->fetch(w); }
BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) { return w->run->policy->publish(w, n); }
BL_FN uint32_t BL__NAME(shown)(bl__worker *w) { return w->run->policy->shown(w); }
BL_FN bool BL__NAME(sees_work)(bl__worker *w) { return w->run->policy->sees_work(w); }
BL_FN bool BL__NAME(all_empty)(bl__worker *w) { return w->run->policy->all_empty(w); }
BL_FN void BL__NAME(leave)(bl__worker *w) {
    if (w->run->policy->leave)
        w->run->policy->leave(w);
}
