import BenchReport
import Foundation
import SignetCrypto
import SignetHTTPServer
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage

/// A server in a separate process, with devices whose keys the benchmark has.
enum LiveServer {
  static let verb = "serve-devices"

  /// A device's keys and names, the same in both processes.
  struct Keys {
    let container: ContainerID
    let user: UserID
    let session: P256.Signing.PrivateKey
    let encryption: P256.KeyAgreement.PrivateKey
    let signing: P256.Signing.PrivateKey
    /// The installation ID.
    let device: [UInt8]

    init(_ number: Int) throws {
      func bytes(_ purpose: String) -> [UInt8] {
        HashFunction.sha256.digest(of: Array("benchmark device \(number) \(purpose)".utf8))
      }
      container = "container\(number)"
      user = "user\(number)"
      device = Array(bytes("installation").prefix(16))
      session = try .init(rawRepresentation: SecretBytes(copying: bytes("session")))
      encryption = try .init(rawRepresentation: SecretBytes(copying: bytes("encryption")))
      signing = try .init(rawRepresentation: SecretBytes(copying: bytes("signing")))
    }
  }

  /// The content of the requests to devices.
  static func content() throws -> TransactionContent {
    try TransactionContent(.text("Pay 100 EUR to Jane"), from: .relyingParty("bench"))
  }

  /// Serves until standard input ends: `serve-devices DIRECTORY COUNT [ADDRESS]`.
  ///
  /// It prints `PORT KEY SERVERKEY` and then answers `cpu` and `memory`. On `add FIRST COUNT TIME` it adds that many transactions
  /// made at that time, each for another device, and prints `ok`. The limits on connections are twice the number of devices,
  /// since half of the connections are reserved for requests that do not wait.
  static func serve(_ arguments: [String]) async throws {
    guard 2...3 ~= arguments.count, let count = Int(arguments[1]) else { throw Options.UsageFailure() }
    var limits = ServerLimits()
    limits.connectionCount = 2 * count + 100
    let server = try await TestServer(
      directory: arguments[0], protection: .device,
      storage: ServerProcess.storage(arguments.dropFirst(2).first),
      limits: limits)
    // Made before the containers: a server with containers but without this key assumes that the key was removed.
    let own = try await SigningKeyService(server.context).currentPublicKey()
    try await enrol(count, server.context)
    let key = try await APIKeyService(server.context).create(
      name: "bench", scopes: [.relyingParty], by: .local)
    ServerProcess.say("\(server.serverURL.port) \(key.text) \(Hex.encode(own.x963Representation))")
    while let line = readLine() {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      if line.hasPrefix("add "), numbers.count == 3 {
        try await add(numbers[1], from: numbers[0], of: count, at: Int64(numbers[2]), server.context.storage)
        ServerProcess.say("ok")
      } else {
        try ServerProcess.answer(line)
      }
    }
    await server.stop()
  }

  /// Adds transactions like the server, except for the users' rate limits; many share a commit.
  private static func add(
    _ number: Int, from first: Int, of devices: Int, at time: Int64, _ storage: Storage
  ) async throws {
    let json = try content().json
    let limits = TransactionLimits(pending: .max, challenges: .max)
    let audit = AuditRecord.sample()
    for part in stride(from: first, to: first + number, by: 256) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in part..<min(part + 256, first + number) {
          let record = TransactionRecord(
            id: "transaction\(index)", user: "user\(index % devices)", content: json, created: time,
            expires: time + 3600)
          group.addTask {
            _ = try await storage.addTransaction(record, key: nil, limits: limits) { _ in audit }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  /// Adds containers to the database directly, since ten thousand activations would take minutes.
  private static func enrol(_ count: Int, _ context: ServiceContext) async throws {
    let profile = JSONValue.object(context.settings.profile.json).bytes
    let all = try (0..<count).map { try Keys($0) }
    try await context.storage.seed(
      users: all.map { UserRecord(id: $0.user, created: 0) },
      activations: all.enumerated().map { number, keys in
        ActivationRecord(
          id: "activation\(number)", user: keys.user, sealedInviteKey: [], salt: [], memoryKiB: 0, passes: 0,
          lanes: 0, profile: [], created: 0, expires: 0, state: .used)
      },
      containers: all.enumerated().map { number, keys in
        ContainerRecord(
          id: keys.container, user: keys.user, activation: "activation\(number)", device: keys.device,
          name: "laptop", platform: "Linux", keystore: "software",
          sessionKey: keys.session.publicKey.x963Representation,
          encryptionKey: keys.encryption.publicKey.x963Representation,
          signingKey: keys.signing.publicKey.x963Representation, profile: profile, created: 0, state: .active)
      })
  }
}
