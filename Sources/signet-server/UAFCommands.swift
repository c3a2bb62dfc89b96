import Foundation
import SignetCrypto
import SignetJSON
import SignetTerminal
import SignetUAF

/// `signet-server uaf`: what concerns FIDO UAF messages and needs no server.
enum UAFCommands {
  static let group = Command("uaf", "Look at FIDO UAF messages, without a server", commands: [verify])

  private static let verify = Command(
    "verify", "Say what a UAF response or assertion says, and whether it holds",
    description: """
      The file holds a registration or authentication response as JSON, or an assertion alone in base64url. What is checked is what \
      can be without knowing the request: the form, the hash of the final challenge, and the signatures; with --metadata also the \
      algorithms of the model, and whom the certificates of the attestation lead to. Whether challenge, counters and policy fit is \
      for the server that asked.

      The signature of an authentication takes --public-key: a file with the key in PEM, hexadecimal or base64url, or the key \
      itself in one of the latter. With --registration the key is that of a registration response. The exit status is 0 where \
      all holds, and 1 otherwise.
      """,
    options: [
      .value(
        "public-key", "The key of an authentication: a file, or the key", named: "key", completion: .file),
      .value(
        "key-format", "How the key is written: 0x0100 to 0x0103; else it is seen from the key",
        named: "format"),
      .value(
        "registration", "A file with the registration response of the key", named: "file", completion: .file),
      .value(
        "metadata",
        "What the vendor says of the model, JSON: checked too, with the attestation's certificates",
        named: "file", completion: .file),
      .value("fc-params", "The fcParams that belong to an assertion", named: "text"),
      .flag("strict", "Refuse numbers of signatures that are not minimal in DER"),
      .flag("json", "Print one JSON document"),
    ],
    arguments: [Argument("file", "The response or assertion; - for standard input")],
    examples: [
      .init("signet-server uaf verify registration.json", "Look at a registration"),
      .init(
        "signet-server uaf verify authentication.json --registration registration.json",
        "Look at an authentication with the key of that registration"),
    ]
  ) { arguments in
    let text = try contents(of: arguments.string("file"))
    let key = try publicKey(arguments)
    let inspection: Inspection
    do throws(Inspection.Failure) {
      inspection = try inspect(text, key, arguments)
    } catch {
      show(refusal: error.description, arguments)
      return .failure
    }
    let objections = inspection.objections + (try objections(to: inspection, arguments))
    show(inspection, objections, arguments)
    return objections.isEmpty ? .success : .failure
  }

  /// What the metadata says against it.
  private static func objections(to inspection: Inspection, _ arguments: Arguments) throws -> [String] {
    guard let file = arguments.optionalString("metadata") else { return [] }
    let text = try contents(of: file)
    let model: AuthenticatorModel
    do throws(MessageFailure) {
      model = try AuthenticatorModel(MetadataStatement(parsing: Array(text.utf8)))
    } catch {
      throw CommandFailure(.dataError, "\(file) is no metadata statement: \(error)")
    }
    let now = Int64(Date().timeIntervalSince1970)
    return inspection.assertions.flatMap { $0.objections(against: model, at: now) }
  }

  private static func inspect(
    _ text: String, _ key: InspectionKey?, _ arguments: Arguments
  ) throws(Inspection.Failure) -> Inspection {
    let isStrict = arguments.isSet("strict")
    if let first = text.utf8.first, first != UInt8(ascii: "["), first != UInt8(ascii: "{"),
      let bytes = Base64URL.decodePadded(text)
    {
      return try Inspection(
        assertion: bytes, finalChallenge: arguments.optionalString("fc-params"), key: key, isStrict: isStrict)
    }
    return try Inspection(response: text, key: key, isStrict: isStrict)
  }

  // MARK: The key

  private static func publicKey(_ arguments: Arguments) throws -> InspectionKey? {
    let format = try arguments.optionalString("key-format").map { name throws -> UAFKeyFormat in
      guard let format = UAFKeyFormat(named: name) else {
        throw CommandFailure(.usage, "--key-format is one of 0x0100 to 0x0103, or a name of the registry")
      }
      return format
    }
    if let file = arguments.optionalString("registration") {
      let registration: Inspection
      do throws(Inspection.Failure) {
        registration = try Inspection(response: try responseText(file))
      } catch {
        throw CommandFailure(.dataError, "\(file): \(error)")
      }
      guard case .registration(let assertion)? = registration.assertions.first?.content else {
        throw CommandFailure(.dataError, "\(file) is no registration response")
      }
      return InspectionKey(assertion.data.publicKey, format: format ?? assertion.data.keyFormat)
    }
    guard let value = arguments.optionalString("public-key") else { return nil }
    guard
      let bytes = keyBytes(FileManager.default.fileExists(atPath: value) ? try contents(of: value) : value)
    else {
      throw CommandFailure(.dataError, "--public-key is neither PEM nor hexadecimal nor base64url")
    }
    return InspectionKey(bytes, format: format)
  }

  private static func responseText(_ file: String) throws(Inspection.Failure) -> String {
    do { return try contents(of: file) } catch { throw .message(.noMessage) }
  }

  private static func keyBytes(_ text: String) -> [UInt8]? {
    let lines = text.split(whereSeparator: \.isNewline)
    if let first = lines.first, first.hasPrefix("-----BEGIN"), lines.count > 2 {
      let base64 = lines.dropFirst().prefix { !$0.hasPrefix("-----END") }.joined()
      return Data(base64Encoded: base64).map(Array.init)
    }
    do { return try Hex.decode(text) } catch { return Base64URL.decodePadded(text) }
  }

  private static func contents(of path: String) throws -> String {
    let unreadable = CommandFailure(.noInput, "\(path) can't be read as text")
    let handle = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
    let data: Data?
    do { data = try handle?.read(upToCount: 1 << 20) } catch { throw unreadable }
    guard let data, let text = String(data: data, encoding: .utf8) else { throw unreadable }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  // MARK: What is printed

  private static func show(refusal: String, _ arguments: Arguments) {
    if arguments.isSet("json") {
      arguments.output.print(["verified": false, "objections": [.string(refusal)]])
    } else {
      arguments.errorOutput.print("not verified: \(refusal)")
    }
  }

  private static func show(_ inspection: Inspection, _ objections: [String], _ arguments: Arguments) {
    if arguments.isSet("json") {
      var object: JSONObject = [
        "verified": .bool(objections.isEmpty), "kind": .string(inspection.kind.rawValue),
        "objections": .array(objections.map { .string($0) }),
      ]
      if let header = inspection.header { object["header"] = .object(header.json) }
      if let challenge = inspection.finalChallenge {
        object["finalChallenge"] = .object(challenge.params.json)
        object["finalChallengeSHA256"] = .string(Hex.encode(challenge.hash))
      }
      object["assertions"] = .array(inspection.assertions.map { .object(members($0)) })
      arguments.output.print(object)
      return
    }
    arguments.output.print(fields: fields(inspection))
    if objections.isEmpty {
      arguments.output.print("Verified: form, final challenge and signatures hold.")
    }
    for objection in objections { arguments.errorOutput.print("not verified: \(objection)") }
  }

  private static func fields(_ inspection: Inspection) -> [(String, String)] {
    var fields = [("Kind", inspection.kind.rawValue)]
    if let header = inspection.header {
      fields += [
        ("Version", header.version.description), ("Application", header.appID ?? "none"),
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
      for member in members(assertion).members {
        let value: String
        switch member.value {
        case .string(let text): value = text
        case .bool(let truth): value = truth ? "yes" : "no"
        case .integer(let number): value = String(number)
        default: value = member.value.text
        }
        fields.append((label(member.name), value))
      }
    }
    return fields
  }

  private static func label(_ member: String) -> String {
    var words = ""
    for character in member {
      if character.isUppercase, words.last?.isLowercase == true { words += " " }
      words.append(words.isEmpty ? character : Character(character.lowercased()))
    }
    return words == "aaid" ? "AAID" : words.prefix(1).uppercased() + words.dropFirst()
  }

  private static func members(_ assertion: AssertionInspection) -> JSONObject {
    var object: JSONObject
    switch assertion.content {
    case .registration(let content):
      let data = content.data
      object = [
        "aaid": .string(data.aaid.text), "keyId": .string(data.keyID.text),
        "authenticatorVersion": .integer(Int64(data.authenticatorVersion)),
        "authenticationMode": .integer(Int64(data.mode)),
        "signatureAlgorithm": .string(data.algorithm.description),
        "publicKeyFormat": .string(data.keyFormat.description),
        "publicKey": .string(Base64URL.encode(data.publicKey)),
        "finalChallengeHash": .string(Hex.encode(data.finalChallengeHash)),
        "signCounter": .integer(Int64(data.signCounter)),
        "registrationCounter": .integer(Int64(data.registrationCounter)),
        "attestation": .string(content.attestation.type.description),
      ]
      if case .basicFull(_, let certificates) = content.attestation {
        object["attestationCertificates"] = .integer(Int64(certificates.count))
      }
    case .authentication(let content):
      let data = content.data
      object = [
        "aaid": .string(data.aaid.text), "keyId": .string(data.keyID.text),
        "authenticatorVersion": .integer(Int64(data.authenticatorVersion)),
        "authenticationMode": .integer(Int64(data.mode)),
        "signatureAlgorithm": .string(data.algorithm.description),
        "nonce": .string(Hex.encode(data.nonce)),
        "finalChallengeHash": .string(Hex.encode(data.finalChallengeHash)),
        "transactionHash": .string(Hex.encode(data.transactionHash)),
        "signCounter": .integer(Int64(data.signCounter)),
      ]
    }
    if let matches = assertion.finalChallengeMatches { object["finalChallengeMatches"] = .bool(matches) }
    if let isValid = assertion.isSignatureValid { object["signatureValid"] = .bool(isValid) }
    return object
  }
}
