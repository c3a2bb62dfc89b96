import COpenSSL

/// The only place that converts OpenSSL's error queue to a ``CryptoFailure``.
enum OpenSSLCall {
  /// Returns the failure of `function` with OpenSSL's code, and clears the thread's error queue.
  ///
  /// The next user of OpenSSL on this thread, such as a TLS library, would mistake a remaining error for its own.
  static func failure(_ function: String) -> CryptoFailure {
    let code = ERR_get_error()
    ERR_clear_error()
    return .library(function: function, code: UInt(code))
  }

  /// Clears the error queue after a failure that has its own case.
  static func forgetErrors() {
    ERR_clear_error()
  }

  /// Throws unless `result` is 1, OpenSSL's usual success code.
  static func check(_ result: Int32, _ function: String) throws(CryptoFailure) {
    guard result == 1 else { throw failure(function) }
  }
}

/// Creates an array of `count` bytes that `write` fills; if it throws, the bytes are wiped.
func byteArray(
  count: Int, writing write: (UnsafeMutableRawBufferPointer) throws(CryptoFailure) -> Void
) throws(CryptoFailure) -> [UInt8] {
  var failure: CryptoFailure?
  let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
    let raw = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count])
    do throws(CryptoFailure) {
      try unsafe write(raw)
      initializedCount = count
    } catch {
      unsafe wipe(raw)
      failure = error
    }
  }
  if let failure { throw failure }
  return bytes
}
