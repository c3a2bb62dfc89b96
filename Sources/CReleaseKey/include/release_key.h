#pragma once

// The public key of the release that this program belongs to: 130 hexadecimal digits of a point on P-256, uncompressed (SEC 1
// section 2.3.3). Empty in a program that belongs to none.
const char *signet_release_key(void);
