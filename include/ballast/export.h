/* BL_API declares a function of the library that a user's object may call. The shared library exports these and
 * nothing else; tests/exports.txt lists them. */
#ifndef BL_EXPORT_H
#define BL_EXPORT_H

#ifdef __cplusplus
#define BL_API extern "C" __attribute__((visibility("default")))
#else
#define BL_API extern __attribute__((visibility("default")))
#endif

#endif
