import BenchReport
import Foundation
import SignetCrypto
import SignetJSON
import SignetTestKit
import SignetUAF

extension Bench {
  /// The work of a UAF server for a response: in this process from its text to the decision, and over TLS.
  ///
  /// Over TLS, counters are durable before the answer.
  func uaf(_ report: inout Report) async throws {
    try verification(&report)
    let folder = try workFolder()
    defer { withExtendedLifetime(folder) {} }
    let load = try UAFLoad(directory: folder.path, users: options.isQuick ? 200 : 1000)
    let commits = try CommitLoad(directory: folder.path)
    _ = try load.responses(connections: 8)  // warms up
    var (one, all, requests, limits): ([LoadRun], [LoadRun], [LoadRun], [Double]) = ([], [], [], [])
    for _ in 0..<(options.isQuick ? 2 : 9) {
      one.append(try load.responses(connections: 1))
      requests.append(try load.requests(connections: 64))
      limits.append(try commits.rate(seconds: options.isQuick ? 0.2 : 0.7))
      all.append(try load.responses(connections: 64))
    }
    let limit = Samples(limits).median
    report.add(one.rows("UAF authentication responses, 1 connection"))
    let name = "UAF authentication responses, 64 connections"
    report.add(all.rows(name, atLeast: 5_000, p99Below: 30))
    report.add(
      ReportRow(
        name: "\(name), beside commits of SQLite", value: all.rate, unit: "requests/s",
        comparedWith: "one row, synchronous=FULL (1/p50) \(limit.formatted())/s", ratio: all.rate / limit))
    report.add(requests.rows("UAF requests for authentication, 64 connections"))
  }

  /// From the JSON text to the decision, compared with one digest and one verification of OpenSSL.
  private func verification(_ report: inout Report) throws {
    let subject = try UAFSubject(isDER: true)
    let authentication = Array(try subject.authentication(serverData: UAFSubject.serverData).utf8)
    let registration = Array(try subject.registration().utf8)
    let (authenticates, registers) = (
      try subject.authenticationExpectation, try subject.registrationExpectation
    )
    let message = [UInt8](repeating: 0x78, count: 150)
    let raw = try RawVerification(
      point: subject.key.publicKey.x963Representation,
      signature: subject.key.signature(for: message).derRepresentation, message: message)
    let outcomes = try race.run([
      Race.Contender("authentication") { keep(try authenticates.verify(authentication)) },
      Race.Contender("OpenSSL SHA-256 + EVP_PKEY_verify, key kept") { try raw.run() },
      Race.Contender("registration") { keep(try registers.verify(registration)) },
    ])
    for (index, name, byteCount) in [
      (0, "UAF authentication responses verified", authentication.count),
      (2, "UAF registration responses verified, surrogate", registration.count),
    ] {
      report.add(
        ReportRow(
          name: name, value: outcomes[index].rate, unit: "op/s", comparedWith: outcomes[1].described(),
          ratio: outcomes[index].ratio(to: outcomes[1]), goal: .ratioAtLeast(0.85),
          notes: "\(byteCount) bytes"))
    }
  }
}

/// An authenticator's key and its responses.
struct UAFSubject {
  static let facet = "ios:bundle-id:org.example.bench"
  static let serverData = String(repeating: "s", count: 64)
  static let aaid = AAID(vendor: 0x7357, model: 1)

  let key: P256.Signing.PrivateKey
  let keyID: KeyID
  let isDER: Bool
  private let appID = "https://uaf.example.org/facets"
  private let challenge = [UInt8](repeating: 7, count: 32)

  /// Makes a new key.
  init(isDER: Bool) throws {
    (key, keyID, self.isDER) = (P256.Signing.PrivateKey(), .random(), isDER)
  }

  /// Makes the key of a user, the same in both processes.
  init(user: Int) throws {
    func bytes(_ purpose: String) -> [UInt8] {
      HashFunction.sha256.digest(of: Array("benchmark UAF \(user) \(purpose)".utf8))
    }
    key = try .init(rawRepresentation: SecretBytes(copying: bytes("key")))
    guard let keyID = KeyID(bytes("id")) else { throw BenchmarkFailure(description: "no key id") }
    self.keyID = keyID
    isDER = false
  }

  var algorithm: UAFAlgorithm { isDER ? .p256DER : .p256RAW }
  var keyFormat: UAFKeyFormat { isDER ? .x962DER : .x962RAW }
  var encodedKey: [UInt8] {
    isDER ? key.publicKey.derRepresentation : key.publicKey.x963Representation
  }

  var models: AuthenticatorModels {
    get throws {
      let statement = MetadataStatement(
        aaid: Self.aaid, description: "benchmark", authenticatorVersion: 1, algorithm: algorithm,
        keyFormat: keyFormat, userVerificationDetails: [[.init(.passcode)]], keyProtection: .software,
        matcherProtection: .software)
      return AuthenticatorModels([try AuthenticatorModel(statement)])
    }
  }

  // MARK: Messages of its own

  private func header(_ operation: UAFOperation) -> OperationHeader {
    OperationHeader(operation: operation, appID: appID, serverData: Self.serverData)
  }

  private var final: FinalChallenge {
    FinalChallenge(FinalChallengeParams(appID: appID, challenge: challenge, facetID: Self.facet))
  }

  func authentication(serverData: String) throws -> String {
    try response(to: header(.authentication), final, counter: 5)
  }

  func registration() throws -> String {
    let data = KeyRegistrationData(
      aaid: Self.aaid, authenticatorVersion: 1, algorithm: algorithm, keyFormat: keyFormat,
      finalChallengeHash: final.hash, keyID: keyID, signCounter: 0, registrationCounter: 0,
      publicKey: encodedKey)
    let assertion = RegistrationAssertion(data, .basicSurrogate(signature: try sign(data.encoded)))
    return RegistrationResponse(
      header: header(.registration), finalChallenge: final,
      assertions: [ResponseAssertion(bytes: assertion.bytes)]
    ).text
  }

  private func sign(_ bytes: [UInt8]) throws -> [UInt8] {
    let signature = try key.signature(for: bytes)
    return isDER ? signature.derRepresentation : signature.rawRepresentation
  }

  var authenticationExpectation: AuthenticationExpectation {
    get throws {
      let request = AuthenticationRequest(
        header: header(.authentication), challenge: challenge,
        policy: Policy(accepted: [[MatchCriteria(aaids: [Self.aaid], keyIDs: [keyID])]]))
      let stored = RegisteredKey(
        reference: KeyReference(aaid: Self.aaid, keyID: keyID), publicKey: .p256(key.publicKey),
        algorithm: algorithm, signCounter: 4)
      return AuthenticationExpectation(
        request, trustedFacets: [Self.facet], models: try models, keys: [stored])
    }
  }

  var registrationExpectation: RegistrationExpectation {
    get throws {
      let request = RegistrationRequest(
        header: header(.registration), challenge: challenge, username: "user",
        policy: Policy(accepted: [[MatchCriteria(aaids: [Self.aaid])]]))
      return RegistrationExpectation(
        request, trustedFacets: [Self.facet], models: try models, unixTime: 1_800_000_000)
    }
  }

  // MARK: Answers to a server

  /// The response to a server's request.
  func response(to request: AuthenticationRequest, counter: UInt32) throws -> String {
    let final = FinalChallenge(
      FinalChallengeParams(
        appID: request.header.appID ?? "", challenge: request.challenge, facetID: Self.facet))
    return try response(to: request.header, final, counter: counter)
  }

  private func response(
    to header: OperationHeader, _ final: FinalChallenge, counter: UInt32
  ) throws -> String {
    let data = SignedData(
      aaid: Self.aaid, authenticatorVersion: 1, mode: 1, algorithm: algorithm,
      nonce: [UInt8](repeating: 3, count: 32), finalChallengeHash: final.hash, keyID: keyID,
      signCounter: counter)
    let assertion = AuthenticationAssertion(data, signature: try sign(data.encoded))
    return AuthenticationResponse(
      header: header, finalChallenge: final, assertions: [ResponseAssertion(bytes: assertion.bytes)]
    ).text
  }
}

/// Sends UAF responses to a server in another process, which also makes them.
private final class UAFLoad {
  private let server: LineProcess
  private let port: UInt16
  private let directory: String
  private let users: Int

  init(directory: String, users: Int) throws {
    server = try LineProcess(LineProcess.ownPath, [UAFServerProcess.verb, directory, String(users)])
    guard let port = UInt16(try server.readLine()) else {
      throw BenchmarkFailure(description: "the server did not start")
    }
    (self.port, self.directory, self.users) = (port, directory, users)
  }

  /// Sends a new response of each user.
  func responses(connections: Int32) throws -> LoadRun {
    try LoadRun(server, port, connections: connections, expecting: "\"statusCode\":1200", batches: 2) {
      let path = try server.ask("responses")
      return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
        post(String($0), "authentication")
      }
    }
  }

  /// Sends a request of each user.
  func requests(connections: Int32) throws -> LoadRun {
    try LoadRun(server, port, connections: connections, expecting: "\"statusCode\":1200", batches: 2) {
      (0..<users).map {
        post(#"{"op":"Auth","context":"{\"username\":\"user\#($0)\"}"}"#, "request/authentication")
      }
    }
  }

  private func post(_ body: String, _ path: String) -> String {
    "POST /nevisfido/uaf/1.1/\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: application/fido+uaf\r\n"
      + "Content-Type: application/fido+uaf;charset=UTF-8\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }
}
