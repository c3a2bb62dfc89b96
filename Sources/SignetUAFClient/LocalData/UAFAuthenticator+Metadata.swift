import SignetUAF

extension UAFAuthenticator {
  /// The metadata statements of all authenticators of Signet, those of every device included: AAID and JSON.
  ///
  /// A server rejects keys of authenticators without a known statement.
  public static var metadataStatements: [(aaid: String, statement: String)] {
    UAFAuthenticatorModel.statements.map { ($0.aaid.text, $0.json.text) }
  }
}
