/* Tests queue verification itself, with threads. */
#include "verify_check.h"

int main(void) {
    check_limit(200);
    faults(&verify_cpu, &verify_cpu_bl_broken, BROKEN_HANG);
    claims(&verify_cpu, &verify_cpu_bl_broken);
    CHECK(verify_cpu.trouble() == NULL);
    return check_end();
}
