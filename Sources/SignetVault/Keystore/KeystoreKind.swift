/// The kinds of keystore; the vault stores the raw value and reports it to the server.
@nonexhaustive public enum KeystoreKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// A key file: a program that can read the user's files can copy it.
  case software
  /// A TPM 2.0: only this device opens the secrets that it sealed.
  case tpm2

  /// The kind in words, for display to a user.
  public var description: String {
    switch self {
    case .software: "software (keys can be copied with the user's files)"
    case .tpm2: "TPM 2.0 (keys are tied to this device)"
    }
  }

  /// The byte for the kind in a slot header.
  var code: UInt8 {
    switch self {
    case .software: 1
    case .tpm2: 2
    }
  }
}
