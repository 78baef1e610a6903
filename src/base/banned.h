/* Calls that cannot be made safe do not compile. Included by every header of base, so by everything. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef strcpy
#define strcpy(x, y) sorry_strcpy_is_banned
#undef strcat
#define strcat(x, y) sorry_strcat_is_banned
#undef strncpy
#define strncpy(x, y, n) sorry_strncpy_is_banned
#undef strncat
#define strncat(x, y, n) sorry_strncat_is_banned
#undef sprintf
#define sprintf(...) sorry_sprintf_is_banned
#undef vsprintf
#define vsprintf(...) sorry_vsprintf_is_banned
#undef strtok
#define strtok(x, y) sorry_strtok_is_banned
#undef gmtime
#define gmtime(t) sorry_gmtime_is_banned
#undef localtime
#define localtime(t) sorry_localtime_is_banned
#undef ctime
#define ctime(t) sorry_ctime_is_banned
#undef asctime
#define asctime(t) sorry_asctime_is_banned
#undef atoi
#define atoi(x) sorry_atoi_is_banned
#undef system
#define system(x) sorry_system_is_banned

#endif
