import SignetJSON

/// The answer `{"status":"…"}`, with which a server says what it did.
///
/// A success that says something else is none: what answered is not a server of this protocol.
enum StatusAnswer {
  /// Checks an answer's body.
  ///
  /// - Throws: ``SignetFailure/unexpectedAnswer(status:)`` unless the body says `expected`.
  static func check(_ body: [UInt8], is expected: String) throws(SignetFailure) {
    let found: String
    do { found = try JSONObject(parsing: body).string("status") } catch {
      throw .unexpectedAnswer(status: 200)
    }
    guard found == expected else { throw .unexpectedAnswer(status: 200) }
  }
}
