import CCurl

/// A set of concurrent transfers and their kept connections (`CURLM *`), closed and freed with its single owner.
///
/// Only one thread uses it; other threads may use only ``Waker``.
@safe struct MultiHandle: ~Copyable {
  private let raw: UnsafeMutableRawPointer

  /// Creates a handle.
  ///
  /// The corresponding C function is `curl_multi_init`.
  ///
  /// - Parameter maximumConnections: The maximum number of idle connections to keep.
  /// - Throws: ``TransportFailure/libraryFailure(call:code:)``.
  init(maximumConnections: Int) throws(TransportFailure) {
    guard let handle = unsafe curl_multi_init() else {
      throw .libraryFailure(call: "curl_multi_init", code: 0)
    }
    let code = unsafe signet_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, maximumConnections)
    guard code == CURLM_OK else {
      unsafe curl_multi_cleanup(handle)
      throw .libraryFailure(call: "curl_multi_setopt", code: code.rawValue)
    }
    unsafe raw = handle
  }

  deinit { unsafe curl_multi_cleanup(raw) }

  /// Ends ``wait(until:)`` from another thread.
  ///
  /// The corresponding C function is `curl_multi_wakeup`, the only one that another thread may call, and only while the
  /// multi handle exists: the event loop removes the waker, under its lock, before it frees the handle.
  @safe struct Waker: @unchecked Sendable {
    fileprivate let raw: UnsafeMutableRawPointer

    /// Makes the current or the next wait return at once.
    func wake() { _ = unsafe curl_multi_wakeup(raw) }
  }

  var waker: Waker { unsafe Waker(raw: raw) }

  borrowing func add(_ easy: borrowing EasyHandle) throws(TransportFailure) {
    let code = unsafe easy.withPointer { unsafe curl_multi_add_handle(raw, $0) }
    guard code == CURLM_OK else {
      throw .libraryFailure(call: "curl_multi_add_handle", code: code.rawValue)
    }
  }

  /// Removes a transfer; closes its connection if it is still running.
  borrowing func remove(_ easy: borrowing EasyHandle) {
    let code = unsafe easy.withPointer { unsafe curl_multi_remove_handle(raw, $0) }
    precondition(code == CURLM_OK, "a transfer is removed once, by the thread that added it")
  }

  /// Makes progress on all transfers without waiting.
  borrowing func perform() throws(TransportFailure) {
    var running: Int32 = 0
    let code = unsafe curl_multi_perform(raw, &running)
    guard code == CURLM_OK else {
      throw .libraryFailure(call: "curl_multi_perform", code: code.rawValue)
    }
  }

  /// Waits until a connection has data, a timer or `time` is due, or the waker is used.
  borrowing func wait(until time: ContinuousClock.Instant?) throws(TransportFailure) {
    // An hour: libcurl shortens it to its next timer, and the waker ends it.
    let longest = 3_600_000
    let limit = time.map { min(longest, ContinuousClock.now.duration(to: $0).positiveMilliseconds) }
    let code = unsafe curl_multi_poll(raw, nil, 0, Int32(limit ?? longest), nil)
    guard code == CURLM_OK else {
      throw .libraryFailure(call: "curl_multi_poll", code: code.rawValue)
    }
  }

  /// Returns the next finished transfer as its `CURLOPT_PRIVATE` context, with libcurl's result.
  ///
  /// The corresponding C function is `curl_multi_info_read`.
  borrowing func nextFinished() -> (context: UnsafeMutableRawPointer?, result: CURLcode)? {
    var remaining: Int32 = 0
    guard let message = unsafe curl_multi_info_read(raw, &remaining) else { return nil }
    let result = unsafe signet_curl_message_result(message)
    var context: UnsafeMutableRawPointer?
    guard unsafe signet_curl_get_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &context) == CURLE_OK
    else { return (nil, result) }
    return unsafe (context, result)
  }
}
