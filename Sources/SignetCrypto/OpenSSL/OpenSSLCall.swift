import COpenSSL

/// The one place where OpenSSL's error queue becomes a ``CryptoFailure``.
enum OpenSSLCall {
  /// The failure of `function`, with OpenSSL's code; the thread's error queue is emptied.
  ///
  /// What stays in the queue would be found by the next user of OpenSSL on this thread, such as a TLS library.
  static func failure(_ function: String) -> CryptoFailure {
    let code = ERR_get_error()
    ERR_clear_error()
    return .library(function: function, code: UInt(code))
  }

  /// Empties the error queue after a refusal that has a name of its own.
  static func forgetErrors() {
    ERR_clear_error()
  }

  /// Throws unless `result` is 1, which is how most of OpenSSL says yes.
  static func check(_ result: Int32, _ function: String) throws(CryptoFailure) {
    guard result == 1 else { throw failure(function) }
  }
}

/// An array of `count` bytes that `write` fills; if it throws, the bytes are wiped.
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
