import SignetJSON

/// The answer `{"status":"…"}`, by which a server reports a success.
///
/// Another status in a successful answer is an error, because it did not come from a server of this protocol.
enum StatusAnswer {
  /// Checks the status in an answer's body.
  ///
  /// - Throws: ``SignetFailure/unexpectedAnswer(status:)`` unless the status is `expected`.
  static func check(_ body: [UInt8], is expected: String) throws(SignetFailure) {
    let found: String
    do { found = try JSONObject(parsing: body).string("status") } catch {
      throw .unexpectedAnswer(status: 200)
    }
    guard found == expected else { throw .unexpectedAnswer(status: 200) }
  }
}
