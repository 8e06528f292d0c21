#include "ceilings.h"

uint32_t ceilings_twin(uint32_t seed, uint32_t length) { return ceilings_chain(seed, length); }
