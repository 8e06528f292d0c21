/* The queues section of ballast list. */
#ifndef BALLAST_CLI_LIST_QUEUES_H
#define BALLAST_CLI_LIST_QUEUES_H

#include "options.h"
#include "output.h"

/* Lists the queues that the device can run, then the others with the reason. A zero device: all. */
void queues_text(const bl_device_info *device);
void queues_json(json_writer *json, const bl_device_info *device);

/* Lists those of the names (NULL-terminated) that the device cannot run, and why. Nothing for a zero device. */
void missing_text(const bl_device_info *device, const char *(*name_at)(uint32_t i));
void missing_json(json_writer *json, const char *key, const bl_device_info *device, const char *(*name_at)(uint32_t i));

#endif
