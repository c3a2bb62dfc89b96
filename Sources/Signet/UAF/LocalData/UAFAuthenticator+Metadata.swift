import SignetUAF

extension UAFAuthenticator {
  /// The metadata statements of all authenticators that Signet has on some device: the AAID, and JSON.
  ///
  /// A server refuses keys of authenticators that it has no statement of.
  public static var metadataStatements: [(aaid: String, statement: String)] {
    SignetModel.statements.map { ($0.aaid.text, $0.json.text) }
  }
}
