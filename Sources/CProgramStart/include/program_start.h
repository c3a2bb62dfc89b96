#pragma once

// What was done to this process before any code of a library ran in it: bits of the following.
enum {
  // No other process of the user can open its memory or trace it.
  SIGNET_START_CLOSED = 1,
  // It was started with the group of its file (set-group-id), and so was closed from exec(2) on.
  SIGNET_START_SET_GROUP = 2,
};

int signet_program_start(void);
