import BenchReport
import Foundation
import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetTestKit

extension Bench {
  /// Signed approvals: verified in the library, and accepted durably by a server over TLS, compared with raw P-256 verifications
  /// on one core.
  func approvals(_ report: inout Report) async throws {
    let folder = try workFolder()
    defer { withExtendedLifetime(folder) {} }
    let load = try ApprovalLoad(directory: folder.path, devices: 1000)
    let subject = try await load.approval(0)
    let raw = try subject.rawVerification()
    let (jws, key) = (subject.jws, subject.keys.signing.publicKey)
    let point = key.x963Representation
    let outcomes = try race.run([
      Race.Contender("approval") {
        guard Decision(verifying: jws, signedBy: key) != nil else { throw ApprovalLoad.Refused() }
      },
      Race.Contender("OpenSSL SHA-256 + EVP_PKEY_verify, key kept") { try raw.run() },
      Race.Contender("approval, as the server takes it") {
        // With the key as it is stored.
        guard let claimed = ClaimedDecision(jws),
          claimed.isSigned(by: try P256.Signing.PublicKey(x963: point))
        else { throw ApprovalLoad.Refused() }
      },
    ])
    for index in [0, 2] {
      report.add(
        ReportRow(
          name: "approval verified, key \(index == 0 ? "kept" : "from the database")",
          value: outcomes[index].rate, unit: "op/s", comparedWith: outcomes[1].described(),
          ratio: outcomes[index].ratio(to: outcomes[1]), goal: .ratioAtLeast(0.5)))
    }
    let (other, postgreSQL) = (try workFolder(), postgreSQL(&report))
    defer { withExtendedLifetime((other, postgreSQL)) {} }
    let onPostgreSQL = try postgreSQL.map {
      try ApprovalLoad(directory: other.path, devices: 1000, address: $0.address($0.makeDatabase()))
    }
    let count = options.isQuick ? 500 : 4000
    var (runs, runsOfPostgreSQL): ([LoadRun], [LoadRun]) = ([], [])
    for _ in 0..<(options.isQuick ? 2 : 7) {
      runs.append(try await load.run(connections: 64, count: count))
      if let onPostgreSQL {
        runsOfPostgreSQL.append(try await onPostgreSQL.run(connections: 64, count: count))
      }
    }
    let name = "POST decision, 64 connections"
    report.add(runs.rows(name))
    report.add(
      ReportRow(
        name: "\(name), beside raw verifications", value: runs.rate, unit: "requests/s",
        comparedWith: outcomes[1].described(), ratio: runs.rate / outcomes[1].rate, goal: .ratioAtLeast(0.5)))
    report.add(runsOfPostgreSQL.rowsOfPostgreSQL(name, beside: runs))
  }
}

/// Approvals of devices, each for a separate transaction, at a server in another process.
private final class ApprovalLoad {
  struct Refused: Error {}

  /// A signed approval.
  struct Approval {
    let keys: LiveServer.Keys
    let transaction: TransactionID
    let jws: String

    func rawVerification() throws -> RawVerification {
      let parts = jws.split(separator: ".")
      let signature = try ECDSASignature(rawRepresentation: Base64URL.decode(String(parts[2])))
      return try RawVerification(
        point: keys.signing.publicKey.x963Representation, signature: signature.derRepresentation,
        message: Array("\(parts[0]).\(parts[1])".utf8))
    }
  }

  private let server: LineProcess
  private let port: UInt16
  private let serverURL: ServerURL
  private let keys: [LiveServer.Keys]
  private let content: TransactionContent
  private let start = Int64(time(nil))
  private var made = 0

  init(directory: String, devices: Int, address: String? = nil) throws {
    server = try LineProcess(
      LineProcess.ownPath, [LiveServer.verb, directory, String(devices)] + [address].compactMap(\.self))
    let parts = try server.readLine().split(separator: " ")
    guard parts.count == 3, let port = UInt16(parts[0]) else {
      throw BenchmarkFailure(description: "the server did not start")
    }
    self.port = port
    serverURL = try ServerURL("127.0.0.1:\(port)/main")
    keys = try (0..<devices).map(LiveServer.Keys.init)
    content = try LiveServer.content()
  }

  /// Makes an approval of the transaction with a number.
  func approval(_ number: Int) async throws -> Approval {
    let keys = keys[number % keys.count]
    let id = TransactionID("transaction\(number)")
    let request = TransactionRequest(
      id: id, content: content, created: start, expires: start + 3600, statuses: DecisionStatus.allCases)
    let decision = Decision(
      .accepted, of: request, at: Int64(time(nil)), server: serverURL, user: keys.user,
      container: keys.container, device: keys.device)
    let jws = try await decision.signed(for: keys.signing.publicKey) { message throws(CryptoFailure) in
      try keys.signing.signature(for: message)
    }
    return Approval(keys: keys, transaction: id, jws: jws)
  }

  /// Sends new approvals.
  func run(connections: Int32, count: Int) async throws -> LoadRun {
    var requests: [String] = []
    guard try server.ask("add \(made) \(count) \(start)") == "ok" else {
      throw BenchmarkFailure(description: "the server did not add the transactions")
    }
    for number in made..<made + count { requests.append(try await request(approval(number))) }
    made += count
    return try LoadRun(
      server, port, connections: connections, expecting: "\"status\":\"accepted\"", batches: 1
    ) { requests }
  }

  private func request(_ approval: Approval) async throws -> String {
    let body = JSONValue.object(["decision": .string(approval.jws)]).text
    let path = "/main/v1/device/transactions/\(approval.transaction)/decision"
    let proof = RequestProof(
      method: "POST", path: path, body: Array(body.utf8), time: Int64(time(nil)),
      random: SystemRandomSource())
    let authorization = try await proof.authorization(container: approval.keys.container) {
      message throws(CryptoFailure) in try approval.keys.session.signature(for: message)
    }
    return "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: \(authorization)\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }
}
