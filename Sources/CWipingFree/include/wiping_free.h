#pragma once

// Nothing to call: a program that links this target has its `free` and `realloc`.
