internal import CMicroHTTPD

/// An MHD connection, valid until its closed callback returns.
///
/// All calls except ``resume()`` are made on the connection's own polling thread, inside a callback.
@safe struct ConnectionHandle: Equatable, @unchecked Sendable {
  private let raw: OpaquePointer

  init(_ raw: OpaquePointer) { unsafe self.raw = raw }

  static func == (a: ConnectionHandle, b: ConnectionHandle) -> Bool { unsafe a.raw == b.raw }

  /// Suspends the connection: no thread polls its socket until it is resumed.
  ///
  /// The corresponding C function is `MHD_suspend_connection`.
  func suspend() { unsafe MHD_suspend_connection(raw) }

  /// Resumes the connection, once per suspension, from any thread.
  ///
  /// The corresponding C function is `MHD_resume_connection`.
  func resume() { unsafe MHD_resume_connection(raw) }

  /// The size of the head in bytes, from the method to the empty line, both included.
  var headByteCount: Int { Int(unsafe signet_mhd_head_size(raw)) }

  /// True if a response to the request is queued, by the server or by MHD itself.
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

  /// Queues a valid response.
  ///
  /// - Returns: True if MHD accepted it; if not, the connection must be closed.
  func queue(_ response: ServerResponse, closing: Bool) -> Bool {
    if !closing, let prepared = response.prepared {
      return unsafe prepared.withRaw { unsafe MHD_queue_response(raw, UInt32(response.status), $0) == .YES }
    }
    let rawResponse = unsafe response.body.withUnsafeBytes { bytes in
      unsafe signet_mhd_response(bytes.baseAddress, bytes.count)
    }
    guard let rawResponse = unsafe rawResponse else { return false }
    defer { unsafe MHD_destroy_response(rawResponse) }
    for field in response.headers.fields {
      guard unsafe MHD_add_response_header(rawResponse, field.name, field.value) == .YES else { return false }
    }
    if closing {
      guard unsafe MHD_add_response_header(rawResponse, "Connection", "close") == .YES else { return false }
    }
    return unsafe MHD_queue_response(raw, UInt32(response.status), rawResponse) == .YES
  }

  /// Sends bytes in the middle of a body, where MHD cannot queue a response, and closes the sending side.
  func sendLast(_ message: [UInt8]) {
    unsafe message.withUnsafeBytes { bytes in
      unsafe signet_mhd_send_last(raw, bytes.baseAddress, bytes.count)
    }
  }
}
