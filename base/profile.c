/* profile.c -- each thread's time by kind of work; see profile.h. */
#include "base/profile.h"

static _Thread_local struct {
    ProfilePart part;
    double since;  // seconds; 0 before the first switch
    double spent[PROFILE_PARTS];
} profile;

void profile_leave(ProfilePart part)
{
    double now = clock_seconds();
    if (profile.since > 0) profile.spent[profile.part] += now - profile.since;
    profile.since = now;
    profile.part = part;
}

ProfilePart profile_enter(ProfilePart part)
{
    ProfilePart before = profile.part;
    if (before != PROFILE_ENCODER) profile_leave(part);
    return before;
}

void profile_read(double seconds[PROFILE_PARTS])
{
    profile_leave(profile.part);
    for (int p = 0; p < PROFILE_PARTS; p++) {
        seconds[p] += profile.spent[p];
        profile.spent[p] = 0;
    }
}
