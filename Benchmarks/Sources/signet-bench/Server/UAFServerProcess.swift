import Foundation
@testable import SignetCrypto
@testable import SignetJSON
import SignetPolicy
import SignetSQLite
@testable import SignetServer
import SignetStorage
@testable import SignetTesting
@testable import SignetUAF
import SignetWire

/// A UAF server in a process of its own, with a user's key for each user, which makes the responses too: no request is timed while
/// it does.
enum UAFServerProcess {
  static let verb = "serve-uaf"

  /// Serves until standard input ends: `serve-uaf DIRECTORY USERS` says `PORT`, and then answers `responses` with a file that
  /// has a body a line, `cpu` and `memory`.
  static func serve(_ arguments: [String]) async throws {
    guard arguments.count == 2, let users = Int(arguments[1]) else { throw Options.UsageFailure() }
    let subjects = try (0..<users).map { try UAFSubject(user: $0) }
    guard let first = subjects.first else { throw Options.UsageFailure() }
    let setup = UAFSetup(UAFSettings(facets: [UAFSubject.facet]), models: try first.models)
    let server = try await TestServer(directory: arguments[0], protection: .device, uaf: setup)
    try enroll(subjects, "\(arguments[0])/signet.sqlite")
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

  /// A body a line: the answers of all users to requests that the server has just made.
  private static func bodies(
    _ subjects: [UAFSubject], _ requests: UAFRequests, _ counter: UInt32
  ) async throws -> String {
    try await withThrowingTaskGroup(of: String.self) { group in
      for (user, subject) in subjects.enumerated() {
        group.addTask {
          let asked = GetUAFRequest(operation: .authentication, context: #"{"username":"user\#(user)"}"#)
          let made = try await requests.make(asked, for: .authentication, by: .anyone)
          let request = try AuthenticationRequest(parsing: Array(made.text.utf8), versions: [.v1_1])
          return SendUAFResponse(response: try subject.response(to: request, counter: counter)).json.text
        }
      }
      return try await group.reduce(into: "") { $0 += $1 + "\n" }
    }
  }

  /// Puts users with a key each into the database, past the server.
  private static func enroll(_ subjects: [UAFSubject], _ path: String) throws {
    let database = try Database(path: path)
    try database.transaction {
      for (user, subject) in subjects.enumerated() {
        try database.execute("INSERT INTO users (id, created) VALUES (?, 0)", .text("user\(user)"))
        try database.execute(
          """
          INSERT INTO uaf_credentials (aaid, key_id, user, public_key, algorithm, key_format, sign_counter,
            registration_counter, authenticator_version, created, state)
          VALUES (?, ?, ?, ?, ?, ?, 0, 1, 1, 0, 'active')
          """, .text(UAFSubject.aaid.text), .blob(subject.keyID.bytes), .text("user\(user)"),
          .blob(subject.encodedKey), .integer(Int64(subject.algorithm.rawValue)),
          .integer(Int64(subject.keyFormat.rawValue)))
      }
    }
  }
}
