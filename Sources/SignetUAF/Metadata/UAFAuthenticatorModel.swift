/// The models of Signet's own authenticators: five methods of user verification, each with keys in software or in a TPM.
package enum UAFAuthenticatorModel: String, CaseIterable, Hashable, Sendable {
  case pin
  case password
  case fingerprint
  case face
  case devicePasscode

  /// Signet's vendor number in every AAID: "Sg", which the FIDO Alliance has not assigned.
  package static let vendor: UInt16 = 0x5167
  package static let version: UInt16 = 1
  /// The minimum length of a PIN, in digits.
  package static let minimumPINLength = 4
  /// The maximum length of a PIN, in digits.
  package static let maximumPINLength = 64

  /// The name for users.
  package var title: String {
    switch self {
    case .pin: "PIN"
    case .password: "Password"
    case .fingerprint: "Fingerprint"
    case .face: "Face"
    case .devicePasscode: "Device passcode"
    }
  }

  /// Returns the AAID of the model.
  ///
  /// - Parameter isInHardware: True for keys in a TPM, false for keys in files.
  /// - Returns: 5167#0001 to 5167#0005 for keys in files, 5167#1001 to 5167#1005 for keys in a TPM.
  package func aaid(inHardware isInHardware: Bool) -> AAID {
    AAID(vendor: Self.vendor, model: number + (isInHardware ? 0x1000 : 0))
  }

  /// Returns the metadata statement of the model.
  ///
  /// It claims only what is true on every machine. Matchers of PINs, fingers and passcodes count as software, because some
  /// of them are, and the app displays transactions.
  package func statement(inHardware isInHardware: Bool) -> MetadataStatement {
    var statement = MetadataStatement(
      aaid: aaid(inHardware: isInHardware),
      description:
        "Signet \(title.lowercased()) authenticator, keys in \(isInHardware ? "a TPM 2.0" : "files")",
      authenticatorVersion: Self.version, algorithm: .p256DER, keyFormat: .x962DER,
      userVerificationDetails: [[method]], keyProtection: isInHardware ? .hardware : .software,
      matcherProtection: .software, display: [.any, .privilegedSoftware])
    statement.isKeyRestricted = true
    statement.isFreshUserVerificationRequired = true
    statement.pngCharacteristics = Self.pictures
    return statement
  }

  /// The supported pictures in addition to text: grayscale and color, each in three sizes.
  package static let pictures: [DisplayPNGCharacteristics] = [(320, 200), (640, 400), (1280, 800)].flatMap {
    size in
    [0, 2].map { colourType in
      DisplayPNGCharacteristics(width: size.0, height: size.1, bitDepth: 8, colourType: colourType)
    }
  }

  package static let statements = allCases.flatMap { model in
    [false, true].map { model.statement(inHardware: $0) }
  }

  private var number: UInt16 {
    switch self {
    case .pin: 1
    case .password: 2
    case .fingerprint: 3
    case .face: 4
    case .devicePasscode: 5
    }
  }

  private var method: MetadataStatement.VerificationMethod {
    switch self {
    case .pin:
      .init(
        .passcode,
        accuracy: .code(
          base: 10, minimumLength: UInt16(Self.minimumPINLength), maximumRetries: 5, blockSlowdown: 0))
    case .password:
      .init(.passcode, accuracy: .code(base: 62, minimumLength: 1, maximumRetries: 5, blockSlowdown: 0))
    case .fingerprint:
      .init(
        .fingerprint,
        accuracy: .biometric(
          falseAcceptance: nil, falseRejection: nil, equalError: nil, falseArtefactAcceptance: nil,
          maximumReferenceSets: nil, maximumRetries: 5, blockSlowdown: 0))
    case .face:
      .init(
        .faceprint,
        accuracy: .biometric(
          falseAcceptance: nil, falseRejection: nil, equalError: nil, falseArtefactAcceptance: nil,
          maximumReferenceSets: nil, maximumRetries: 5, blockSlowdown: 0))
    case .devicePasscode: .init(.passcode)
    }
  }
}
