import CCurl

enum CurlLibrary {
  /// Initialises libcurl, once per process.
  ///
  /// The corresponding C function is `curl_global_init`. It is never undone: other users of libcurl in the process may still
  /// need it.
  static func start() throws(TransportFailure) {
    guard startResult == CURLE_OK else {
      throw .libraryFailure(call: "curl_global_init", code: startResult.number)
    }
  }

  private static let startResult: CURLcode = signet_curl_global_init()
}

extension CURLcode {
  /// The number of the code, as in `libcurl-errors(3)`.
  var number: Int32 { Int32(bitPattern: rawValue) }
}
