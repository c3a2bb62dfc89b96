/// An algorithm with a name in the JOSE registry.
protocol RegisteredName: RawRepresentable where RawValue == String {}

extension RegisteredName {
  /// Returns the algorithm with exactly this name.
  ///
  /// Names are ASCII and case-sensitive (RFC 7515 section 4.1.1). `==` of `String` alone would accept characters that are
  /// canonically equivalent to ASCII ones, such as the Kelvin sign for "K".
  init?(name: String) {
    guard name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(rawValue: name)
  }
}

extension SignatureAlgorithm: RegisteredName {}
extension KeyManagementAlgorithm: RegisteredName {}
extension ContentEncryptionAlgorithm: RegisteredName {}
