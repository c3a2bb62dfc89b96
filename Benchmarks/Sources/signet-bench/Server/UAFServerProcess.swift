import BenchReport
import Foundation
import SignetCrypto
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetUAF

/// A UAF server in a separate process, with one key for each user, which also makes the responses: no request is timed meanwhile.
enum UAFServerProcess {
  static let verb = "serve-uaf"

  /// Serves until standard input ends: `serve-uaf DIRECTORY USERS` prints `PORT`, and then answers `cpu` and `memory`, and
  /// `responses` with a file that has one body in each line.
  static func serve(_ arguments: [String]) async throws {
    guard arguments.count == 2, let users = Int(arguments[1]) else { throw Options.UsageFailure() }
    let subjects = try (0..<users).map { try UAFSubject(user: $0) }
    guard let first = subjects.first else { throw Options.UsageFailure() }
    var settings = UAFSettings(facets: [UAFSubject.facet])
    // All requests come from one address here.
    settings.openRequests = 1_000_000
    let setup = UAFSetup(settings, models: try first.models)
    let server = try await TestServer(
      directory: arguments[0], protection: .device, uaf: setup, limits: ServerProcess.limits)
    try await enrol(subjects, server.context.storage)
    let requests = UAFRequests(server.context, setup, TransactionService(server.context))
    ServerProcess.say(String(server.serverURL.port))
    var counter: UInt32 = 0
    while let line = readLine() {
      guard line == "responses" else {
        try ServerProcess.answer(line)
        continue
      }
      counter += 1
      let path = "\(arguments[0])/responses"
      try Data(try await bodies(subjects, requests, counter).utf8).write(to: URL(fileURLWithPath: path))
      ServerProcess.say(path)
    }
    await server.stop()
  }

  /// The answers of all users to new requests of the server, one body in each line.
  private static func bodies(
    _ subjects: [UAFSubject], _ requests: UAFRequests, _ counter: UInt32
  ) async throws -> String {
    try await withThrowingTaskGroup(of: String.self) { group in
      for (user, subject) in subjects.enumerated() {
        group.addTask {
          let asked = GetUAFRequest(operation: .authentication, context: #"{"username":"user\#(user)"}"#)
          let made = try await requests.make(asked, for: .authentication, by: .anyone(from: "127.0.0.1"))
          let request = try AuthenticationRequest(parsing: Array(made.text.utf8), versions: [.v1_1])
          return SendUAFResponse(response: try subject.response(to: request, counter: counter)).json.text
        }
      }
      return try await group.reduce(into: "") { $0 += $1 + "\n" }
    }
  }

  /// Adds users with one key each to the database directly.
  private static func enrol(_ subjects: [UAFSubject], _ storage: Storage) async throws {
    try await storage.seed(users: subjects.indices.map { UserRecord(id: "user\($0)", created: 0) })
    let credentials = subjects.enumerated().map { user, subject in
      NewUAFCredential(
        UAFCredentialRecord(
          aaid: UAFSubject.aaid.text, keyID: subject.keyID.bytes, user: "user\(user)",
          publicKey: subject.encodedKey, algorithm: subject.algorithm.rawValue,
          keyFormat: subject.keyFormat.rawValue, signCounter: 0, registrationCounter: 1,
          authenticatorVersion: 1, created: 0), digest: PublicKeyDigest(of: subject.encodedKey))
    }
    // Through the storage, since the rows need the server's MACs.
    let event = AuditRecord(.userAdded(user: "bench"), by: .local, at: 0)
    let session = UAFOperationRecord(
      id: "enroll", operation: "Reg", created: 0, expires: .max, state: .requested)
    try await storage.addUAFOperation(session, audit: nil)
    _ = try await storage.finishUAFRegistration(
      session.id, UAFOperationEnd(status: 1200, time: 0), adding: credentials, limit: .max
    ) { _ in event }
  }
}
