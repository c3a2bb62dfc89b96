#pragma once

#include <stdint.h>

/// Starts libmicrohttpd as SignetHTTPServer does, TLS and two threads that wait with poll, to answer every request with 200 and no body.
/// It serves until the process ends. PEM texts are zero-terminated.
///
/// @returns The port on 127.0.0.1, or 0 where it could not be started.
uint16_t empty_server_start(const char *certificate, const char *private_key, const char *priorities);
