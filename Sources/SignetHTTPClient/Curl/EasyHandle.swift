import CCurl

/// The handle of one transfer (`CURL *`), freed with its single owner.
///
/// A rejected option is an error: a libcurl without a security option must not connect.
@safe struct EasyHandle: ~Copyable {
  private let raw: UnsafeMutableRawPointer

  /// Creates a handle with libcurl's defaults.
  ///
  /// The corresponding C function is `curl_easy_init`.
  init() throws(TransportFailure) {
    guard let handle = unsafe curl_easy_init() else {
      throw .libraryFailure(call: "curl_easy_init", code: 0)
    }
    unsafe raw = handle
  }

  deinit { unsafe curl_easy_cleanup(raw) }

  borrowing func withPointer<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R { unsafe body(raw) }

  borrowing func set(_ option: CURLoption, _ value: Int) throws(TransportFailure) {
    try Self.check(unsafe signet_curl_set_long(raw, option, value))
  }

  borrowing func setOffset(_ option: CURLoption, _ value: Int) throws(TransportFailure) {
    try Self.check(unsafe signet_curl_set_offset(raw, option, curl_off_t(value)))
  }

  /// Sets a string option; libcurl copies it.
  ///
  /// The text must not contain a zero byte.
  borrowing func set(_ option: CURLoption, _ text: String) throws(TransportFailure) {
    precondition(!text.utf8.contains(0), "a C string cannot hold a zero byte")
    let code = unsafe text.withCString { unsafe signet_curl_set_pointer(raw, option, $0) }
    try Self.check(code)
  }

  /// Sets a pointer option to `nil`, which also removes its default.
  borrowing func clear(_ option: CURLoption) throws(TransportFailure) {
    try Self.check(unsafe signet_curl_set_pointer(raw, option, nil))
  }

  /// Sets the content to send (`CURLOPT_COPYPOSTFIELDS`), which makes the request a `POST`; libcurl copies it.
  borrowing func setContent(_ bytes: [UInt8]) throws(TransportFailure) {
    try setOffset(CURLOPT_POSTFIELDSIZE_LARGE, bytes.count)  // first: it is the number of bytes to copy
    if bytes.isEmpty { return try set(CURLOPT_COPYPOSTFIELDS, "") }
    let code = unsafe bytes.withUnsafeBytes {
      unsafe signet_curl_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
    }
    try Self.check(code)
  }

  /// Sets a blob option; libcurl copies it.
  borrowing func setBlob(_ option: CURLoption, _ bytes: [UInt8]) throws(TransportFailure) {
    var bytes = bytes
    let code = unsafe bytes.withUnsafeMutableBytes { buffer in
      var blob = unsafe curl_blob(
        data: buffer.baseAddress, len: buffer.count, flags: UInt32(CURL_BLOB_COPY))
      return unsafe signet_curl_set_pointer(raw, option, &blob)
    }
    try Self.check(code)
  }

  /// Sets a list option; `list` must outlive the transfer.
  borrowing func set(_ option: CURLoption, _ list: borrowing TextList) throws(TransportFailure) {
    let code = unsafe list.withPointer { unsafe signet_curl_set_pointer(raw, option, $0) }
    try Self.check(code)
  }

  /// Sets the context that ``MultiHandle/nextFinished()`` returns (`CURLOPT_PRIVATE`).
  borrowing func setContext(_ context: UnsafeMutableRawPointer) throws(TransportFailure) {
    try Self.check(unsafe signet_curl_set_pointer(raw, CURLOPT_PRIVATE, context))
  }

  /// Sets a callback for received bytes, and its context.
  borrowing func setCallback(
    _ function: CURLoption, _ callback: @escaping signet_curl_data_callback, context option: CURLoption,
    _ context: UnsafeMutableRawPointer
  ) throws(TransportFailure) {
    try Self.check(unsafe signet_curl_set_data_callback(raw, function, callback))
    try Self.check(unsafe signet_curl_set_pointer(raw, option, context))
  }

  /// Sets the callback that runs before a request is written (`CURLOPT_PREREQFUNCTION`), and its context.
  borrowing func setRequestCallback(
    _ callback: @escaping curl_prereq_callback, context: UnsafeMutableRawPointer
  ) throws(TransportFailure) {
    try Self.check(unsafe signet_curl_set_prereq_callback(raw, callback))
    try Self.check(unsafe signet_curl_set_pointer(raw, CURLOPT_PREREQDATA, context))
  }

  /// Reads a `long`; 0 if libcurl has none.
  borrowing func number(_ info: CURLINFO) -> Int {
    var value = 0
    guard unsafe signet_curl_get_long(raw, info, &value) == CURLE_OK else { return 0 }
    return value
  }

  private static func check(_ code: CURLcode) throws(TransportFailure) {
    guard code == CURLE_OK else { throw .libraryFailure(call: "curl_easy_setopt", code: code.number) }
  }
}

/// A list of text lines for libcurl (`curl_slist`), freed with its single owner.
@safe struct TextList: ~Copyable {
  private let raw: UnsafeMutablePointer<curl_slist>?

  /// Copies lines such as "Name: value".
  ///
  /// The corresponding C function is `curl_slist_append`.
  init(_ lines: [String]) throws(TransportFailure) {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      guard let longer = unsafe curl_slist_append(list, line) else {
        unsafe curl_slist_free_all(list)
        throw .libraryFailure(call: "curl_slist_append", code: 0)
      }
      unsafe list = longer
    }
    unsafe raw = list
  }

  deinit { unsafe curl_slist_free_all(raw) }

  /// Lends the pointer to `body`; nil for an empty list.
  borrowing func withPointer<R>(_ body: (UnsafeMutablePointer<curl_slist>?) -> R) -> R {
    unsafe body(raw)
  }
}
