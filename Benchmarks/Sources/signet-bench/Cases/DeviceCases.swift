import BenchReport
import Foundation
import Signet
import SignetCrypto
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetVault

extension Bench {
  /// Operations that a user waits for: activation, and approving a transaction, over TLS on loopback.
  func device(_ report: inout Report) async throws {
    let folder = try workFolder()
    let password = ProtectionPolicy.password(
      try PasswordPolicy(minimumLength: 6, maximumLength: 64), .lock(limit: 5))
    let withPassword = try await DeviceSubject(directory: folder.path + "/password", protection: password)
    let deviceOnly = try await DeviceSubject(directory: folder.path + "/device", protection: .device)
    try await activation(withPassword, &report)
    try await approval(withPassword, deviceOnly, &report)
    await withPassword.server.stop()
    await deviceOnly.server.stop()
  }

  private func activation(_ subject: DeviceSubject, _ report: inout Report) async throws {
    var (whole, rest, derivations): ([Double], [Double], [Double]) = ([], [], [])
    for index in 0..<options.times(60) {
      let invitation = try await subject.invite("user\(index)")
      let start = Clocks.wall
      let container = try await subject.activate(invitation)
      let elapsed = milliseconds(since: start)
      let derivation = try await subject.keyDerivation(of: container)
      whole.append(elapsed)
      derivations.append(derivation)
      rest.append(elapsed - 2 * derivation)
    }
    let (all, without) = (Samples(whole), Samples(rest))
    let beside = "Argon2id twice (invite, password) \((2 * Samples(derivations).median).formatted()) ms"
    report.add([
      ReportRow(name: "activation p50", value: all.median, unit: "ms", comparedWith: beside),
      ReportRow(
        name: "activation p99", value: all.percentile(99), unit: "ms", notes: "of \(all.count)"),
      ReportRow(name: "activation without the KDFs, p50", value: without.median, unit: "ms"),
    ])
  }

  private func approval(
    _ withPassword: DeviceSubject, _ deviceOnly: DeviceSubject, _ report: inout Report
  ) async throws {
    let container = try await withPassword.activate(withPassword.invite("approver"))
    let other = try await deviceOnly.activate(deviceOnly.invite("approver"))
    var (whole, rest, derivations): ([Double], [Double], [Double]) = ([], [], [])
    var (alone, fresh): ([Double], [Double]) = ([], [])
    for _ in 0..<options.times(150) {
      let elapsed = try await withPassword.approve(with: container, on: withPassword.device)
      let derivation = try await withPassword.keyDerivation(of: container)
      whole.append(elapsed)
      derivations.append(derivation)
      rest.append(elapsed - derivation)
      alone.append(try await deviceOnly.approve(with: other, on: deviceOnly.device))
      fresh.append(try await deviceOnly.approve(with: other, on: deviceOnly.newDevice()))
    }
    let samples = Samples(rest)
    let derivation = "Argon2id 19 MiB, 2 passes: \(Samples(derivations).median.formatted()) ms"
    report.add([
      ReportRow(
        name: "approve (fetch, sign, post) without the KDF, p50", value: samples.median, unit: "ms",
        comparedWith: derivation, goal: .valueBelow(20)),
      ReportRow(
        name: "approve (fetch, sign, post) without the KDF, p99", value: samples.percentile(99), unit: "ms",
        notes: "of \(samples.count)"),
      ReportRow(
        name: "approve with a password, KDF and all, p50", value: Samples(whole).median, unit: "ms"),
      ReportRow(name: "approve with the device alone, p50", value: Samples(alone).median, unit: "ms"),
      ReportRow(
        name: "approve with the device alone, new TLS connection, p50", value: Samples(fresh).median,
        unit: "ms"),
    ])
  }
}

private func milliseconds(since start: UInt64) -> Double { Double(Clocks.wall - start) / 1e6 }

/// A server in this process and a device that uses it.
private final class DeviceSubject {
  let server: TestServer
  let device: Device
  private let vault: Vault
  private let password: SharedSecretBox?

  init(directory: String, protection: ProtectionPolicy) async throws {
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    server = try await TestServer(directory: directory, protection: protection)
    let vaultDirectory = directory + "/vault"
    vault = try Vault(
      directory: vaultDirectory, keystore: SoftwareKeystore(directory: vaultDirectory), cost: .fixed(.minimum)
    )
    password =
      protection == .device ? nil : SharedSecretBox(SecretBytes(copying: Array("correct horse".utf8)))
    device = Self.device(vault, server)
  }

  /// Returns the same device, as a newly started program opens it.
  func newDevice() -> Device { Self.device(vault, server) }

  private static func device(_ vault: Vault, _ server: TestServer) -> Device {
    Device(
      vault: vault,
      connection: ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
  }

  /// Measures the key derivation when the vault opens the password's domain, in milliseconds.
  ///
  /// It is the same work on the same thread as in an approval, so it can be subtracted.
  func keyDerivation(of container: Container) async throws -> Double {
    guard let password else { return 0 }
    let opened = try await vault.open(
      "user", of: container.id, with: .password(password.withSecret { $0.copy() }))
    return opened.timing.keyDerivation / .milliseconds(1)
  }

  func invite(_ name: String) async throws -> ActivationCode {
    let user = try UserID(name)
    try await UserService(server.context).add(user, by: .local)
    return try await ActivationService(server.context).invite(user, lifetime: nil, by: .local).code
  }

  func activate(_ code: ActivationCode) async throws -> Container {
    try await device.createContainer(
      ContainerInitialization(code: code, deviceName: "Bench"),
      handler: ScriptedActivation(password: "correct horse"))
  }

  /// Approves a new transaction; returns the milliseconds from fetching the list to the server's confirmation.
  func approve(with container: Container, on device: Device) async throws -> Double {
    let transactions = TransactionService(server.context)
    _ = try await transactions.create(
      "Pay 250.00 EUR to Jane Doe", user: container.user, lifetime: nil, by: .local)
    let start = Clocks.wall
    for transaction in try await device.pendingTransactions(for: container) {
      try await device.decide(transaction, .accepted, with: container, by: password.map { .password($0) })
    }
    return milliseconds(since: start)
  }
}
