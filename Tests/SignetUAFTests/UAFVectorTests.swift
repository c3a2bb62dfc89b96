import Foundation
import SignetCrypto
import SignetJSON
import SignetUAF
import Testing

/// The shared messages of products and of the specification, if they are available.
struct UAFVector: Sendable, CustomTestStringConvertible {
  static let folder = URL(
    filePath: ProcessInfo.processInfo.environment["SIGNET_VECTORS"] ?? "../shared/vectors"
  ).appending(path: "uaf")
  static let isPresent = FileManager.default.fileExists(atPath: folder.path)

  let id: String
  let kind: String
  let text: String
  let expect: JSONObject?

  var testDescription: String { id }

  static func load() throws -> [UAFVector] {
    guard isPresent else { return [] }
    let index = try JSONValue(parsing: Array(Data(contentsOf: folder.appending(path: "index.json"))))
    guard case .array(let entries) = index else { throw JSONFailure.notAnObject }
    return try entries.map { entry in
      guard case .object(let object) = entry else { throw JSONFailure.notAnObject }
      let file = folder.appending(path: try object.string("file"))
      let expect: JSONObject? = if case .object(let expect) = object["expect"] { expect } else { nil }
      return UAFVector(
        id: try object.string("id"), kind: try object.string("kind"),
        text: try String(contentsOf: file, encoding: .utf8), expect: expect)
    }
  }

  static func named(_ id: String) throws -> UAFVector { try #require(load().first { $0.id == id }) }
}

@Suite(
  "Messages of products and of the specification", .enabled(if: UAFVector.isPresent, "needs the vectors"))
struct UAFVectorTests {
  @Test(
    "every response gets its manifest's result", arguments: try UAFVector.load().filter { $0.expect != nil })
  func responses(_ vector: UAFVector) throws {
    let expect = try #require(vector.expect)
    let inspection = try Inspection(response: vector.text)
    #expect(inspection.kind.rawValue == vector.kind)
    #expect(inspection.assertions.count == 1)
    let assertion = try #require(inspection.assertions.first)
    #expect(assertion.finalChallengeMatches == true)
    let hash = try #require(inspection.finalChallenge).hash
    #expect(Hex.encode(hash) == (try expect.string("finalChallengeHashHex")))
    let counters = try Hex.decode(try expect.string("countersHex"))
    switch assertion.content {
    case .registration(let assertion):
      let data = assertion.data
      #expect(data.aaid.text == (try expect.string("aaid")))
      #expect(data.keyID.text == (try expect.string("keyID")))
      #expect(Int64(data.authenticatorVersion) == (try expect.integer("authenticatorVersion")))
      #expect(Int64(data.mode) == (try expect.integer("authenticationMode")))
      #expect(data.algorithm.rawValue.registryHex == (try expect.string("signatureAlg")))
      #expect(data.keyFormat.rawValue.registryHex == (try expect.string("publicKeyAlg")))
      #expect(assertion.attestation.type.rawValue.registryHex == (try expect.string("attestationTag")))
      #expect(Self.bytes(data.signCounter) + Self.bytes(data.registrationCounter) == counters)
      #expect(data.publicKey == (try Base64URL.decode(try expect.string("publicKeyRaw"))))
      #expect(inspection.objections == [])
    case .authentication(let assertion):
      let data = assertion.data
      #expect(data.aaid.text == (try expect.string("aaid")))
      #expect(data.keyID.text == (try expect.string("keyID")))
      #expect(Int64(data.authenticatorVersion) == (try expect.integer("authenticatorVersion")))
      #expect(data.algorithm.rawValue.registryHex == (try expect.string("signatureAlg")))
      #expect(Hex.encode(data.nonce) == (try expect.string("nonceHex")))
      #expect(Hex.encode(data.transactionHash) == (try expect.string("transactionHashHex")))
      #expect(Self.bytes(data.signCounter) == counters)
      #expect(inspection.objections == ["the signature was not checked: the public key is not known"])
    }
    #expect(assertion.isSignatureValid == (vector.kind == "registrationResponse" ? true : nil))
  }

  @Test("the specification's authentication verifies with its registered key in each format")
  func pair() throws {
    let registration = try UAFVector.named("spec-reg-response")
    let authentication = try UAFVector.named("spec-auth-response")
    let expect = try #require(registration.expect)
    for (member, format) in [("publicKeyRaw", UAFKeyFormat.x962RAW), ("publicKeySpki", .x962DER)] {
      let bytes = try Base64URL.decode(try expect.string(member))
      for key in [InspectionKey(bytes), InspectionKey(bytes, format: format)] {
        #expect(try Inspection(response: authentication.text, key: key).objections == [])
      }
    }
    let other = try #require(UAFVector.named("surrogate-issue52").expect)
    let wrong = InspectionKey(try Base64URL.decode(try other.string("publicKeyRaw")))
    #expect(
      try Inspection(response: authentication.text, key: wrong).objections == ["the signature is not valid"])
  }

  @Test("requests survive a round trip")
  func requests() throws {
    let versions = [UAFVersion.v1_1]
    for vector in try UAFVector.load() {
      let text = Array(vector.text.utf8)
      switch vector.kind {
      case "registrationRequest":
        let request = try RegistrationRequest(parsing: text, versions: versions)
        #expect(try RegistrationRequest(parsing: Array(request.text.utf8), versions: versions) == request)
      case "authenticationRequest":
        let request = try AuthenticationRequest(parsing: text, versions: versions)
        #expect(try AuthenticationRequest(parsing: Array(request.text.utf8), versions: versions) == request)
      case "deregistrationRequest":
        let request = try DeregistrationRequest(parsing: text, versions: versions)
        #expect(try DeregistrationRequest(parsing: Array(request.text.utf8), versions: versions) == request)
        let old = try DeregistrationRequest(parsing: text, versions: [.v1_0])
        #expect(old.header.version == .v1_0 && old.targets != request.targets)
      default: break
      }
    }
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
  }
}
