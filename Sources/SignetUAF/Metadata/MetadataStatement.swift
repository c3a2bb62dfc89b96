import SignetCrypto
package import SignetJSON

/// A vendor's description of an authenticator model (FIDO Metadata Statements).
package struct MetadataStatement: Hashable, Sendable {
  package struct VerificationMethod: Hashable, Sendable {
    /// The method: exactly one bit.
    package let userVerification: UserVerification
    /// The strength of the method according to the vendor: `caDesc`, `baDesc` or `paDesc`.
    package let accuracy: Accuracy?

    package init(_ userVerification: UserVerification, accuracy: Accuracy? = nil) {
      (self.userVerification, self.accuracy) = (userVerification, accuracy)
    }
  }

  /// The strength of a method against guessing and spoofing.
  package enum Accuracy: Hashable, Sendable {
    /// A code: the size of its character set and its minimum length. A slow-down of 0 seconds blocks permanently.
    case code(base: UInt16, minimumLength: UInt16, maximumRetries: UInt16?, blockSlowdown: UInt16?)
    /// A biometric; its rates are fractions.
    case biometric(
      falseAcceptance: Double?, falseRejection: Double?, equalError: Double?,
      falseArtefactAcceptance: Double?, maximumReferenceSets: UInt16?, maximumRetries: UInt16?,
      blockSlowdown: UInt16?)
    /// A pattern; its minimum complexity is a number of patterns.
    case pattern(minimumComplexity: UInt32, maximumRetries: UInt16?, blockSlowdown: UInt16?)
  }

  /// A trust anchor of ECDAA; its numbers are base64url and not interpreted.
  package struct ECDAATrustAnchor: Hashable, Sendable {
    package let numbers: [String: String]

    static let names = ["X", "Y", "c", "sx", "sy", "G1Curve"]
  }

  package var aaid: AAID
  package var description: String
  package var authenticatorVersion: UInt16
  package var versions: [UAFVersion]
  package var assertionScheme: String
  package var algorithm: UAFAlgorithm
  package var keyFormat: UAFKeyFormat
  package var attestationTypes: [AttestationType]
  /// The alternatives; the user has to pass all methods of one inner list.
  package var userVerificationDetails: [[VerificationMethod]]
  package var keyProtection: KeyProtection
  package var isKeyRestricted: Bool?
  package var isFreshUserVerificationRequired: Bool?
  package var matcherProtection: MatcherProtection
  package var attachmentHint: AttachmentHint
  package var isSecondFactorOnly: Bool
  package var display: UAFTransactionDisplay
  package var displayContentType: String?
  package var pngCharacteristics: [DisplayPNGCharacteristics]
  /// The root certificates in DER; empty for a model with surrogate attestation only.
  package var attestationRootCertificates: [[UInt8]]
  /// Kept but not used: ECDAA is unsupported.
  package var ecdaaTrustAnchors: [ECDAATrustAnchor]
  /// A `data:` URL of a PNG picture.
  package var icon: String?
  package var supportedExtensions: [UAFExtension]

  /// Creates the description of a model with surrogate attestation.
  package init(
    aaid: AAID, description: String, authenticatorVersion: UInt16, algorithm: UAFAlgorithm,
    keyFormat: UAFKeyFormat, userVerificationDetails: [[VerificationMethod]], keyProtection: KeyProtection,
    matcherProtection: MatcherProtection, attachmentHint: AttachmentHint = .internal,
    isSecondFactorOnly: Bool = false, display: UAFTransactionDisplay = []
  ) {
    self.aaid = aaid
    self.description = description
    self.authenticatorVersion = authenticatorVersion
    versions = [.v1_1]
    assertionScheme = ResponseAssertion.tlvScheme
    self.algorithm = algorithm
    self.keyFormat = keyFormat
    attestationTypes = [.basicSurrogate]
    self.userVerificationDetails = userVerificationDetails
    self.keyProtection = keyProtection
    isKeyRestricted = nil
    isFreshUserVerificationRequired = nil
    self.matcherProtection = matcherProtection
    self.attachmentHint = attachmentHint
    self.isSecondFactorOnly = isSecondFactorOnly
    self.display = display
    displayContentType = display.isEmpty ? nil : UAFTransaction.ContentType.text.rawValue
    pngCharacteristics = []
    attestationRootCertificates = []
    ecdaaTrustAnchors = []
    icon = nil
    supportedExtensions = []
  }

  /// The limits for the size of a statement, most of which is its icon.
  package static let limits = JSONLimits(maximumByteCount: 1 << 20)

  /// Parses a statement about a UAF authenticator.
  ///
  /// - Throws: ``MessageFailure`` with the malformed member.
  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let object: JSONObject
    do throws(JSONFailure) { object = try JSONObject(parsing: text, limits: Self.limits) } catch {
      throw .json(error)
    }
    try self.init(object)
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    guard try reader.optionalString("protocolFamily") ?? "uaf" == "uaf" else {
      throw reader.failure("protocolFamily", .value)
    }
    guard let aaid = AAID(try reader.string("aaid")) else { throw reader.failure("aaid", .form) }
    self.aaid = aaid
    description = try reader.string("description", 1...4096)
    authenticatorVersion = try reader.number("authenticatorVersion")
    versions = try reader.list("upv", maximum: 64) { value, path throws(MessageFailure) in
      try UAFVersion(DictionaryReader(value, path))
    }
    assertionScheme = try reader.string("assertionScheme", 1...64)
    algorithm = UAFAlgorithm(rawValue: try reader.number("authenticationAlgorithm"))
    keyFormat = UAFKeyFormat(rawValue: try reader.number("publicKeyAlgAndEncoding"))
    attestationTypes = try reader.list("attestationTypes", maximum: 64) {
      value, path throws(MessageFailure) in
      AttestationType(rawValue: try DictionaryReader.number(value, path))
    }
    userVerificationDetails = try reader.list("userVerificationDetails", maximum: 64) {
      value, path throws(MessageFailure) in
      try DictionaryReader.list(value, path, minimum: 1, maximum: 16) { value, path throws(MessageFailure) in
        try VerificationMethod(DictionaryReader(value, path))
      }
    }
    keyProtection = KeyProtection(rawValue: try reader.number("keyProtection"))
    isKeyRestricted = try reader.optionalBool("isKeyRestricted")
    isFreshUserVerificationRequired = try reader.optionalBool("isFreshUserVerificationRequired")
    matcherProtection = MatcherProtection(rawValue: try reader.number("matcherProtection"))
    attachmentHint = AttachmentHint(rawValue: try reader.number("attachmentHint"))
    isSecondFactorOnly = try reader.bool("isSecondFactorOnly")
    display = UAFTransactionDisplay(rawValue: try reader.number("tcDisplay"))
    displayContentType = try reader.optionalString("tcDisplayContentType", 1...128)
    pngCharacteristics =
      try reader.optionalList("tcDisplayPNGCharacteristics", minimum: 0, maximum: 64) {
        value, path throws(MessageFailure) in
        try DisplayPNGCharacteristics(DictionaryReader(value, path))
      } ?? []
    attestationRootCertificates = try reader.list("attestationRootCertificates", minimum: 0, maximum: 64) {
      value, path throws(MessageFailure) in
      try Self.certificate(value, path)
    }
    ecdaaTrustAnchors =
      try reader.optionalList("ecdaaTrustAnchors", minimum: 0, maximum: 64) {
        value, path throws(MessageFailure) in
        let reader = try DictionaryReader(value, path)
        var numbers: [String: String] = [:]
        for name in ECDAATrustAnchor.names { numbers[name] = try reader.string(name, 1...4096) }
        return ECDAATrustAnchor(numbers: numbers)
      } ?? []
    icon = try reader.optionalString("icon", 0...(1 << 20))
    supportedExtensions =
      try reader.optionalList("supportedExtensions", minimum: 0, maximum: 64) {
        value, path throws(MessageFailure) in
        try Self.supportedExtension(DictionaryReader(value, path))
      } ?? []
  }

  /// Decodes Base64 of DER; statements contain arbitrary line breaks.
  private static func certificate(_ value: JSONValue, _ path: String) throws(MessageFailure) -> [UInt8] {
    let text = try DictionaryReader.text(value, path).utf8.filter { !($0 == 0x20 || 0x09...0x0D ~= $0) }
    do { return try Base64.decode(text) } catch { throw .member(path, .form) }
  }

  /// Parses an extension of a statement, where `data` is optional.
  private static func supportedExtension(
    _ reader: DictionaryReader
  ) throws(MessageFailure) -> UAFExtension {
    UAFExtension(
      id: try reader.string("id", 1...32), data: try reader.optionalString("data", 0...65_536) ?? "",
      failIfUnknown: try reader.bool("fail_if_unknown"))
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "aaid": .string(aaid.text), "description": .string(description),
      "authenticatorVersion": .number(authenticatorVersion), "protocolFamily": "uaf",
      "upv": .dictionaries(versions.map(\.json)), "assertionScheme": .string(assertionScheme),
      "authenticationAlgorithm": .number(algorithm.rawValue),
      "publicKeyAlgAndEncoding": .number(keyFormat.rawValue),
      "attestationTypes": .numbers(attestationTypes.map(\.rawValue)),
      "userVerificationDetails": .array(
        userVerificationDetails.map { .dictionaries($0.map(\.json)) }),
      "keyProtection": .number(keyProtection.rawValue),
      "matcherProtection": .number(matcherProtection.rawValue),
      "attachmentHint": .number(attachmentHint.rawValue), "isSecondFactorOnly": .bool(isSecondFactorOnly),
      "tcDisplay": .number(display.rawValue),
      "attestationRootCertificates": .strings(attestationRootCertificates.map(Base64.encode)),
    ]
    object.setOptional("isKeyRestricted", isKeyRestricted.map { .bool($0) })
    object.setOptional("isFreshUserVerificationRequired", isFreshUserVerificationRequired.map { .bool($0) })
    object.setOptional("tcDisplayContentType", displayContentType.map { .string($0) })
    if !pngCharacteristics.isEmpty {
      object["tcDisplayPNGCharacteristics"] = .dictionaries(pngCharacteristics.map(\.json))
    }
    if !ecdaaTrustAnchors.isEmpty {
      object["ecdaaTrustAnchors"] = .dictionaries(
        ecdaaTrustAnchors.map { anchor in
          var object = JSONObject()
          for name in ECDAATrustAnchor.names {
            object.setOptional(name, anchor.numbers[name].map { .string($0) })
          }
          return object
        })
    }
    object.setOptional("icon", icon.map { .string($0) })
    if !supportedExtensions.isEmpty { object["supportedExtensions"] = supportedExtensions.json }
    return object
  }

  /// The traits that a policy compares.
  package var traits: AuthenticatorTraits {
    // Lists with one method are alternatives and form one set of bits; a longer list requires all of its methods.
    let single = userVerificationDetails.filter { $0.count == 1 }.flatMap { $0 }
      .reduce(into: UserVerification()) { $0.formUnion($1.userVerification) }
    let combined = userVerificationDetails.filter { $0.count > 1 }
      .map { $0.reduce(into: UserVerification.all) { $0.formUnion($1.userVerification) } }
    return AuthenticatorTraits(
      aaid: aaid, userVerification: (single.isEmpty ? [] : [single]) + combined,
      keyProtection: keyProtection, matcherProtection: matcherProtection, attachmentHint: attachmentHint,
      display: display, algorithms: [algorithm], assertionScheme: assertionScheme,
      attestationTypes: attestationTypes, version: authenticatorVersion)
  }
}

extension MetadataStatement.VerificationMethod {
  init(_ reader: DictionaryReader) throws(MessageFailure) {
    let bits: UInt32 = try reader.number("userVerification")
    guard bits.nonzeroBitCount == 1 else { throw reader.failure("userVerification", .value) }
    userVerification = UserVerification(rawValue: bits)
    if let code = try reader.optionalDictionary("caDesc") {
      accuracy = .code(
        base: try code.number("base"), minimumLength: try code.number("minLength"),
        maximumRetries: try code.optionalNumber("maxRetries"),
        blockSlowdown: try code.optionalNumber("blockSlowdown"))
    } else if let biometric = try reader.optionalDictionary("baDesc") {
      accuracy = .biometric(
        falseAcceptance: try biometric.rate("FAR"), falseRejection: try biometric.rate("FRR"),
        equalError: try biometric.rate("EER"), falseArtefactAcceptance: try biometric.rate("FAAR"),
        maximumReferenceSets: try biometric.optionalNumber("maxReferenceDataSets"),
        maximumRetries: try biometric.optionalNumber("maxRetries"),
        blockSlowdown: try biometric.optionalNumber("blockSlowdown"))
    } else if let pattern = try reader.optionalDictionary("paDesc") {
      accuracy = .pattern(
        minimumComplexity: try pattern.number("minComplexity"),
        maximumRetries: try pattern.optionalNumber("maxRetries"),
        blockSlowdown: try pattern.optionalNumber("blockSlowdown"))
    } else {
      accuracy = nil
    }
  }

  var json: JSONObject {
    var object: JSONObject = ["userVerification": .number(userVerification.rawValue)]
    switch accuracy {
    case .code(let base, let length, let retries, let slowdown):
      var code: JSONObject = ["base": .number(base), "minLength": .number(length)]
      code.setOptional("maxRetries", retries.map { .number($0) })
      code.setOptional("blockSlowdown", slowdown.map { .number($0) })
      object["caDesc"] = .object(code)
    case .biometric(let far, let frr, let eer, let faar, let sets, let retries, let slowdown):
      var biometric = JSONObject()
      for (name, rate) in [("FAR", far), ("FRR", frr), ("EER", eer), ("FAAR", faar)] {
        biometric.setOptional(name, rate.map { .number($0) })
      }
      biometric.setOptional("maxReferenceDataSets", sets.map { .number($0) })
      biometric.setOptional("maxRetries", retries.map { .number($0) })
      biometric.setOptional("blockSlowdown", slowdown.map { .number($0) })
      object["baDesc"] = .object(biometric)
    case .pattern(let complexity, let retries, let slowdown):
      var pattern: JSONObject = ["minComplexity": .number(complexity)]
      pattern.setOptional("maxRetries", retries.map { .number($0) })
      pattern.setOptional("blockSlowdown", slowdown.map { .number($0) })
      object["paDesc"] = .object(pattern)
    case nil: break
    }
    return object
  }
}

extension DictionaryReader {
  /// Returns an optional fraction from 0 to 1.
  func rate(_ member: String) throws(MessageFailure) -> Double? {
    let rate: Double
    switch object[member] {
    case nil: return nil
    case .integer(let integer)?: rate = Double(integer)
    case .number(let number)?: rate = number
    default: throw failure(member, .type(.number))
    }
    guard (0...1).contains(rate) else { throw failure(member, .range) }
    return rate
  }
}
