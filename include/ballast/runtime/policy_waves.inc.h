/* Template: the scheduler of the run, one that runs in waves, out of the library (policy.h). */
#define BL__ENDS_ALONE 1

BL_FN uint32_t BL__NAME(fetch)(bl__worker *w) { return w->run->policy->fetch(w); }
BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) { return w->run->policy->publish(w, n); }
BL_FN uint32_t BL__NAME(shown)(bl__worker *w) { return w->run->policy->shown(w); }
BL_FN void BL__NAME(open_share)(bl__worker *w) { w->run->policy->open_share(w); }
BL_FN void BL__NAME(end_share)(bl__worker *w) { w->run->policy->end_share(w); }
BL_FN bool BL__NAME(next_wave)(bl__worker *w) { return w->run->policy->next_wave(w); }
