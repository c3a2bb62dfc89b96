internal import CMicroHTTPD

/// A valid response in MHD's form; it is immutable and reference-counted by MHD, so any thread may queue it.
@safe package final class PreparedResponse: @unchecked Sendable {
  private let raw: OpaquePointer

  /// Creates the response; `nil` if memory is exhausted.
  ///
  /// The corresponding C functions are `MHD_create_response_from_buffer` and `MHD_add_response_header`.
  init?(_ response: ServerResponse) {
    let rawResponse = unsafe response.body.withUnsafeBytes { bytes in
      unsafe signet_mhd_response(bytes.baseAddress, bytes.count)
    }
    guard let rawResponse = unsafe rawResponse else { return nil }
    for field in response.headers.fields {
      guard unsafe MHD_add_response_header(rawResponse, field.name, field.value) == .YES else {
        unsafe MHD_destroy_response(rawResponse)
        return nil
      }
    }
    unsafe raw = unsafe rawResponse
  }

  deinit { unsafe MHD_destroy_response(raw) }

  func withRaw<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(raw) }
}
