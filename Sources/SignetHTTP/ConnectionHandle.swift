internal import CMicroHTTPD

/// MHD's connection, valid until its closed callback returns.
///
/// Except for ``resume()`` every call is made on the connection's own polling thread, inside a callback.
@safe struct ConnectionHandle: Equatable, @unchecked Sendable {
  private let raw: OpaquePointer

  init(_ raw: OpaquePointer) { unsafe self.raw = raw }

  static func == (a: ConnectionHandle, b: ConnectionHandle) -> Bool { unsafe a.raw == b.raw }

  /// The corresponding C function is `MHD_suspend_connection`: no thread looks at the socket from here on.
  func suspend() { unsafe MHD_suspend_connection(raw) }

  /// The corresponding C function is `MHD_resume_connection`: any thread may call it, once per suspension.
  func resume() { unsafe MHD_resume_connection(raw) }

  /// The bytes from the method to the empty line, both included.
  var headByteCount: Int { Int(unsafe signet_mhd_head_size(raw)) }

  /// Whether a response of the request is queued, ours or MHD's own.
  var hasResponse: Bool { unsafe signet_mhd_has_response(raw) != 0 }

  /// Visits the header fields in order, as MHD parsed them.
  ///
  /// The corresponding C function is `MHD_get_connection_values_n`.
  func forEachField<Context>(
    _ context: inout Context,
    _ visit:
      @convention(c) (
        UnsafeMutableRawPointer?, MHD_ValueKind, UnsafePointer<CChar>?, Int, UnsafePointer<CChar>?, Int
      ) -> MHD_Result
  ) {
    unsafe withUnsafeMutablePointer(to: &context) { pointer in
      unsafe signet_mhd_fields(raw, visit, UnsafeMutableRawPointer(pointer))
    }
  }

  /// Queues a response, which has to be a valid one.
  ///
  /// - Returns: Whether MHD took it; if not, the connection is to be closed.
  func queue(_ response: ServerResponse, closing: Bool) -> Bool {
    if !closing, let kept = response.kept {
      return unsafe kept.withRaw { unsafe MHD_queue_response(raw, UInt32(response.status), $0) == .YES }
    }
    let made = unsafe response.body.withUnsafeBytes { bytes in
      unsafe signet_mhd_response(bytes.baseAddress, bytes.count)
    }
    guard let made = unsafe made else { return false }
    defer { unsafe MHD_destroy_response(made) }
    for field in response.headers.fields {
      guard unsafe MHD_add_response_header(made, field.name, field.value) == .YES else { return false }
    }
    if closing {
      guard unsafe MHD_add_response_header(made, "Connection", "close") == .YES else { return false }
    }
    return unsafe MHD_queue_response(raw, UInt32(response.status), made) == .YES
  }

  /// Sends bytes where MHD cannot queue a response, in the middle of a body, and ends the sending side.
  func sendLast(_ message: [UInt8]) {
    unsafe message.withUnsafeBytes { bytes in
      unsafe signet_mhd_send_last(raw, bytes.baseAddress, bytes.count)
    }
  }
}
