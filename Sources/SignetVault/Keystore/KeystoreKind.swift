/// The kinds of keystore; the raw value is what the vault stores and what the server is told.
@nonexhaustive public enum KeystoreKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// A file: whoever can read the user's files can copy it.
  case software
  /// A TPM 2.0: what it seals opens on this device only.
  case tpm2

  /// What a person should read.
  public var description: String {
    switch self {
    case .software: "software (keys can be copied with the user's files)"
    case .tpm2: "TPM 2.0 (keys are tied to this device)"
    }
  }

  /// The byte that stands for the kind in a slot header.
  var code: UInt8 {
    switch self {
    case .software: 1
    case .tpm2: 2
    }
  }
}
