/* safetensors-checksum.h -- what writer and reader of the format have in common; only for
 * model/safetensors*.c. */
#ifndef MODEL_SAFETENSORS_CHECKSUM_H
#define MODEL_SAFETENSORS_CHECKSUM_H

#include "model/safetensors.h"

#define CRC_PREFIX  "crc32."
#define CRC_HEADER  "crc32.header"
#define CRC_UNKNOWN "00000000"
enum { CRC_DIGITS = 8, NAME_LIMIT = 255, LENGTH_BYTES = 8 };

/* text (=) the CRC-32 of the bytes, in hex. */
const char *crc_text(char text[CRC_DIGITS + 1], const void *bytes, size_t length);

#endif
