#pragma once

#include <spawn.h>

// Functions of the system that its headers declare only for programs which ask for GNU's extensions; Swift's module does not.

extern int pipe2(int ends[2], int flags);
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
