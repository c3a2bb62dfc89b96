#pragma once

#include <curl/curl.h>

// Swift imports neither variadic functions nor the macros that libcurl puts over them, so each kind of
// argument gets one typed function here. They add nothing: the result is libcurl's own.

typedef size_t (*signet_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode signet_curl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

static inline CURLcode signet_curl_set_long(CURL *easy, CURLoption option, long value) {
  return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode signet_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return (curl_easy_setopt)(easy, option, value);
}

// Strings, blobs, header lists and contexts; what libcurl copies and what it borrows depends on the option.
static inline CURLcode signet_curl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode signet_curl_set_data_callback(
    CURL *easy, CURLoption option, signet_curl_data_callback callback) {
  return (curl_easy_setopt)(easy, option, callback);
}

static inline CURLcode signet_curl_set_prereq_callback(CURL *easy, curl_prereq_callback callback) {
  return (curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode signet_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLcode signet_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLMcode signet_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return (curl_multi_setopt)(multi, option, value);
}

// The result is in a union, valid only for CURLMSG_DONE, which is the only message there is.
static inline CURLcode signet_curl_message_result(const CURLMsg *message) { return message->data.result; }
