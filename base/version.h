/* version.h -- which qkv this is: what --version says, and the man pages. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define VERSION "1.0"

#endif
