import Signet
import SignetCrypto
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetVault
import Testing

/// A device whose container and keys have separate passwords, and its server.
struct KeyBench {
  /// The passwords of the container and its keys.
  static let container = "Container 42 tower"
  static let passwords: [Key.Usage: String] = [
    .transactionSigning: "Signing 42 tower", .oneTimePassword: "Codes 42 tower",
    .sessionTransport: "Session 42 tower",
  ]

  let server: InvitingServer
  let fixture: DeviceFixture
  let device: Device
  let container: Container
  let handler: ScriptedActivation

  /// Activates; every named key gets a separate password.
  init(
    _ keys: [Key.Usage] = Key.Usage.allCases, lock: LockPolicy = .lock(limit: 3),
    otpLock: LockPolicy? = nil, cache: PasswordCache = .disabled
  ) async throws {
    let policy = try PasswordPolicy(minimumLength: 4, maximumLength: 40, cache: cache)
    var own: [ContainerProfile.KeyName: ProtectionPolicy] = [:]
    for key in keys { own[key.name] = .password(policy, key == .oneTimePassword ? otpLock ?? lock : lock) }
    try await self.init(.password(policy, lock), own)
  }

  init(
    _ protection: ProtectionPolicy, _ keys: [ContainerProfile.KeyName: ProtectionPolicy],
    transport: ((any HTTPTransport) -> any HTTPTransport)? = nil
  ) async throws {
    server = try await InvitingServer(protection).restarted { $0.profile.keys = keys }
    fixture = try DeviceFixture(transport?(server.transport) ?? server.transport)
    device = fixture.device
    handler = ScriptedActivation(password: Self.container, keyPasswords: Self.passwords)
    container = try await device.createContainer(
      ContainerInitialization(code: server.invite()), handler: handler)
  }

  /// The right password of a key, or for `nil` of the container.
  static func right(_ key: Key.Usage?) -> Authentication {
    .password(secret(key.flatMap { passwords[$0] } ?? container))
  }

  static let wrong = Authentication.password(secret("Wrong 42 tower"))

  func code(by authentication: Authentication?) async throws -> String {
    try await device.oneTimePassword(for: container, by: authentication).code
  }

  /// Decides a new transaction.
  func sign(
    _ container: Container? = nil, by authentication: Authentication?, session: Authentication? = nil
  ) async throws {
    let container = container ?? self.container
    let asked = try await TransactionService(server.server.context).create(
      "Pay 12.50 to Bob", user: UserID("alice"), lifetime: nil, by: .local)
    let transaction = try #require(
      try await device.pendingTransactions(for: container, by: session).first { $0.id == asked.id })
    try await device.decide(transaction, .accepted, with: container, by: authentication, session: session)
  }

  /// Returns whether the server accepts a code.
  func accepts(_ code: String) async throws -> Bool {
    try await CodeService(server.server.context).validate(code, user: UserID("alice"), by: .init(.local))
      .value == .accepted
  }

  /// The records of a vault's domain that this password, or for `nil` the device, opens.
  func records(of domain: String, password: String?) async throws -> [String] {
    guard let password else {
      return try await fixture.vault.open(domain, of: container.id, with: .device).recordNames
    }
    let bytes = SecretBytes(copying: Array(password.utf8))
    return try await fixture.vault.open(domain, of: container.id, with: .password(bytes)).recordNames
  }
}
