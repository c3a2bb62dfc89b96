import SignetCrypto
import SignetJSON
import SignetStorage
import SignetSystem
import SignetTerminal
import SignetUAF

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `signet-server uaf …`.
enum UAFCommands {
  static let group = Command(
    "uaf", "Manage the registrations of FIDO UAF, and inspect its messages",
    commands: UAFRegistryCommands.commands + [verify])

  private static let verify = Command(
    "verify", "Show the content of a UAF response or assertion, and verify it",
    description: """
      The file holds a registration or authentication response as JSON, or an assertion alone in base64url. \
      It is checked as far as that is possible without the request: the form, the hash of the final \
      challenge, and the signatures; with --metadata also the algorithms of the model, and the root of the \
      attestation's certificates. Challenge, counters and policy can be checked only by the requesting \
      server.

      The signature of an authentication requires --public-key: a file with the key in PEM, hexadecimal or \
      base64url, or the key itself in one of the latter two. With --registration the key is that of a \
      registration response. The exit status is 0 if everything is valid, and 1 otherwise.
      """,
    options: [
      .value(
        "public-key", "The key of an authentication: a file, or the key", named: "key", completion: .file),
      .value(
        "key-format", "The format of the key: 0x0100 to 0x0103; detected from the key by default",
        named: "format", completion: .choices(["0x0100", "0x0101", "0x0102", "0x0103"])),
      .value(
        "registration", "A file with the registration response of the key", named: "file", completion: .file),
      .value(
        "metadata",
        "The vendor's metadata statement of the model, JSON: checked too, with the attestation's certificates",
        named: "file", completion: .file),
      .value("fc-params", "The fcParams that belong to an assertion", named: "text"),
      .flag("strict", "Refuse numbers of signatures that are not minimal in DER"),
      .flag("json", "Print one JSON object; docs/signet-check.md has the members of its assertions"),
    ],
    arguments: [Argument("file", "The response or assertion; - for standard input", completion: .file)],
    examples: [
      .init("signet-server uaf verify registration.json", "Look at a registration"),
      .init(
        "signet-server uaf verify authentication.json --registration registration.json",
        "Look at an authentication with the key of that registration"),
    ]
  ) { arguments in
    let text = try trimmed(arguments.string("file"))
    let key = try publicKey(arguments)
    let inspection: Inspection
    do {
      inspection = try inspect(text, key, arguments)
    } catch Inspection.Failure.message(.operation(UAFOperation.deregistration.rawValue)) {
      show(refusal: "a deregistration has no signature: there is nothing to verify", arguments)
      return .failure
    } catch let failure as Inspection.Failure {
      show(refusal: failure.description, arguments)
      return .failure
    }
    let objections = inspection.objections + (try objections(to: inspection, arguments))
    show(inspection, objections, arguments)
    return objections.isEmpty ? .success : .failure
  }

  /// Returns the objections that follow from the metadata.
  private static func objections(to inspection: Inspection, _ arguments: Arguments) throws -> [String] {
    guard let file = arguments.optionalString("metadata") else { return [] }
    let text = try trimmed(file)
    let model: AuthenticatorModel
    do throws(MessageFailure) {
      model = try AuthenticatorModel(MetadataStatement(parsing: Array(text.utf8)))
    } catch {
      throw CommandFailure(
        .dataError, "\(file) is not a metadata statement: \(error)")
    }
    let now = Int64(Date().timeIntervalSince1970)
    return inspection.assertions.flatMap { $0.objections(against: model, at: now) }
  }

  private static func inspect(
    _ text: String, _ key: InspectionKey?, _ arguments: Arguments
  ) throws -> Inspection {
    let isStrict = arguments.isSet("strict")
    let challenge = arguments.optionalString("fc-params")
    if let first = text.utf8.first, first != UInt8(ascii: "["), first != UInt8(ascii: "{") {
      guard let bytes = Base64URL.decodePadded(text.filter { !$0.isWhitespace }) else {
        throw CommandFailure(
          .dataError, "the text is neither JSON nor base64url, which has - and _ in place of + and /")
      }
      return try Inspection(assertion: bytes, finalChallenge: challenge, key: key, isStrict: isStrict)
    }
    guard challenge == nil else {
      throw CommandFailure(.usage, "--fc-params is for an assertion alone: a response has its own")
    }
    return try Inspection(response: text, key: key, isStrict: isStrict)
  }

  private static func trimmed(_ file: String) throws -> String {
    try InputFile.text(of: file).trimmed
  }

  // MARK: The key

  private static func publicKey(_ arguments: Arguments) throws -> InspectionKey? {
    let format = arguments.optionalString("key-format").flatMap(UAFKeyFormat.init(named:))
    if let file = arguments.optionalString("registration") {
      guard arguments.optionalString("public-key") == nil, format == nil else {
        throw CommandFailure(
          .usage, "--registration says the key and its format; leave out --public-key and --key-format")
      }
      return try registeredKey(file)
    }
    guard let value = arguments.optionalString("public-key") else {
      guard format == nil else { throw CommandFailure(.usage, "--key-format goes with --public-key") }
      return nil
    }
    guard let bytes = keyBytes(FileManager.default.fileExists(atPath: value) ? try trimmed(value) : value)
    else {
      throw CommandFailure(
        .dataError,
        "--public-key is neither a public key in PEM, hexadecimal or base64url nor a file with one")
    }
    return InspectionKey(bytes, format: format)
  }

  private static func registeredKey(_ file: String) throws -> InspectionKey {
    let text = try trimmed(file)
    let registration: Inspection
    do throws(Inspection.Failure) {
      registration = try Inspection(response: text)
    } catch {
      throw CommandFailure(.dataError, "\(file): \(error)")
    }
    guard case .registration(let assertion)? = registration.assertions.first?.content else {
      throw CommandFailure(.dataError, "\(file) is not a registration response")
    }
    return InspectionKey(assertion.data.publicKey, format: assertion.data.keyFormat)
  }

  private static func keyBytes(_ text: String) -> [UInt8]? {
    if text.hasPrefix("-----BEGIN") { return PEM.decode(text, labels: ["PUBLIC KEY", "RSA PUBLIC KEY"]) }
    do { return try Hex.decode(text) } catch { return Base64URL.decodePadded(text) }
  }

  // MARK: What is printed

  private static func show(refusal: String, _ arguments: Arguments) {
    if arguments.isSet("json") {
      arguments.output.print(["verified": false, "objections": [.string(refusal)]])
    } else {
      show(objection: refusal, arguments)
    }
  }

  /// Prints an objection, which contains untrusted text of the message.
  private static func show(objection: String, _ arguments: Arguments) {
    arguments.errorOutput.print("not verified: \(objection)")
  }

  private static func show(_ inspection: Inspection, _ objections: [String], _ arguments: Arguments) {
    if arguments.isSet("json") {
      var object: JSONObject = [
        "verified": .bool(objections.isEmpty), "kind": .string(inspection.kind.rawValue),
        "objections": .array(objections.map { .string($0) }),
      ]
      if let model = modelProof(inspection, objections, arguments) { object["model"] = .string(model) }
      if let header = inspection.header { object["header"] = .object(header.json) }
      if let challenge = inspection.finalChallenge {
        object["finalChallenge"] = .object(challenge.params.json)
        object["finalChallengeSHA256"] = .string(Hex.encode(challenge.hash))
      }
      object["assertions"] = .array(inspection.assertions.map { .object($0.json) })
      arguments.output.print(object)
      return
    }
    let model = modelProof(inspection, objections, arguments).map { [("Model", $0)] } ?? []
    arguments.output.print(fields: fields(inspection) + model)
    if objections.isEmpty {
      arguments.output.print("Verified: form, final challenge and signatures hold.")
    }
    for objection in objections { show(objection: objection, arguments) }
    if inspection.assertions.contains(where: { $0.isSignatureValid == nil && !$0.isRegistration }) {
      arguments.errorOutput.print(
        "Name the key with --registration FILE, the response that registered it, or with --public-key.")
    }
  }

  /// Returns the proof of the model of registered keys.
  ///
  /// It is attested if their certificates led to the roots in the given metadata, otherwise claimed; `nil` if no key is
  /// registered.
  private static func modelProof(
    _ inspection: Inspection, _ objections: [String], _ arguments: Arguments
  ) -> String? {
    var attestations: [AttestationType] = []
    for case .registration(let assertion) in inspection.assertions.map(\.content) {
      attestations.append(assertion.attestation.type)
    }
    guard !attestations.isEmpty else { return nil }
    let isChecked = arguments.optionalString("metadata") != nil && objections.isEmpty
    let isAttested = isChecked && attestations.allSatisfy { $0 == .basicFull }
    return (isAttested ? UAFCredentialRecord.ModelProof.attested : .claimed).rawValue
  }

  private static func fields(_ inspection: Inspection) -> [(String, String)] {
    var fields = [("Kind", inspection.kind.rawValue)]
    if let header = inspection.header {
      fields += [
        ("Version", header.version.description),
        ("Application", header.appID.flatMap { $0.isEmpty ? nil : $0 } ?? "none"),
        ("Server data", header.serverData == nil ? "none" : "present"),
      ]
    }
    if let challenge = inspection.finalChallenge {
      fields += [
        ("Signed application", challenge.params.appID), ("Facet", challenge.params.facetID),
        ("Challenge", Base64URL.encode(challenge.params.challenge)),
        ("Channel binding", challenge.params.channelBinding.isEmpty ? "none" : "present"),
      ]
    }
    for assertion in inspection.assertions {
      for member in assertion.json.members {
        let value: String
        switch member.value {
        case .string where member.name == "signatureAlgorithm": value = assertion.algorithm.description
        case .string(let text): value = text
        case .bool(let flag): value = flag ? "yes" : "no"
        case .integer(let number): value = String(number)
        default: value = member.value.text
        }
        if !value.isEmpty { fields.append((labels[member.name] ?? member.name, value)) }
      }
    }
    return fields
  }

  /// The names of the members of an assertion for users.
  private static let labels = [
    "aaid": "AAID", "keyIDB64": "Key ID", "signatureAlgorithm": "Signature algorithm",
    "publicKeyFormat": "Public key format", "publicKeyHex": "Public key",
    "finalChallengeHashHex": "Final challenge hash", "finalChallengeMatches": "Final challenge matches",
    "signCounter": "Signature counter", "regCounter": "Registration counter",
    "authenticatorVersion": "Authenticator version", "authenticationMode": "Authentication mode",
    "nonceHex": "Authenticator nonce", "transactionHashHex": "Transaction hash",
    "signatureValid": "Signature valid", "attestation": "Attestation", "attestationTag": "Attestation tag",
    "attestationCertificates": "Attestation certificates",
  ]
}
