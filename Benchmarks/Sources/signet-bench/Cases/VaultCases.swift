import BenchReport
import Foundation
import SignetCrypto
import SignetPolicy
import SignetTestKit
import SignetVault
import Synchronization

extension Bench {
  /// The cost of a password, and the further cost of opening a vault.
  func vault(_ report: inout Report) async throws {
    try await unlocking(&report)
    try await shortStep(&report)
    try await manyKeys(&report)
    try calibration(&report)
  }

  /// Measures the opening of a domain with its password, in milliseconds: without the KDF, and the KDF alone.
  func unlocking(
    _ keystore: (String) -> any HardwareKeystore
  ) async throws -> (overhead: Samples, derivation: Samples) {
    let folder = try workFolder()
    let directory = folder.path + "/vault"
    let vault = try Vault(directory: directory, keystore: keystore(directory), cost: .fixed(.minimum))
    let password = SharedSecretBox(SecretBytes(copying: Array("correct horse".utf8)))
    let records = ["signing-key", "otp-secret"].map {
      RecordDraft(name: $0, secret: SharedSecretBox(SecretBytes.random(byteCount: 32)))
    }
    let domain = DomainDraft(name: "user", protection: .password(password, .lock(limit: 5)), records: records)
    let id = try await vault.addContainer(
      ContainerDraft(
        attributes: ContainerAttributes(userID: "alice", server: "localhost/main", name: "", serverID: ""),
        created: 0, domains: [domain]))
    try await vault.confirmContainer(id)
    var (overheads, derivations): ([Double], [Double]) = ([], [])
    for _ in 0..<options.times(200) {
      let timing = try await vault.open(
        "user", of: id, with: .password(password.withSecret { $0.copy() })
      ).timing
      overheads.append(timing.overhead / .milliseconds(1))
      derivations.append(timing.keyDerivation / .milliseconds(1))
    }
    return (Samples(overheads), Samples(derivations))
  }

  private func unlocking(_ report: inout Report) async throws {
    let (overhead, derivation) = try await unlocking { SoftwareKeystore(directory: $0) }
    let beside = "the KDF itself, Argon2id 19 MiB, 2 passes: p50 \(derivation.median.formatted()) ms"
    report.add([
      ReportRow(
        name: "vault unlock minus KDF, p50", value: overhead.median, unit: "ms", comparedWith: beside,
        goal: .valueBelow(10)),
      ReportRow(
        name: "vault unlock minus KDF, p99", value: overhead.percentile(99), unit: "ms",
        notes: "of \(overhead.count); two durable commits are in it"),
    ])
  }

  /// Measures the time during which a killed process loses an attempt, from the commit of the count to the end, in milliseconds.
  private func shortStep(_ report: inout Report) async throws {
    let folder = try workFolder()
    let directory = folder.path + "/vault"
    // The last commit before an attempt is tried is that of its count.
    let commit = Mutex<UInt64>(0)
    let count = Mutex<UInt64>(0)
    var settings = Vault.Settings(cost: .fixed(.minimum))
    settings.willExecute = { sql in
      if sql == "COMMIT" { commit.withLock { $0 = Clocks.wall } }
    }
    settings.willTry = {
      let start = commit.withLock(\.self)
      count.withLock { $0 = start }
    }
    let vault = try Vault(
      directory: directory, keystore: SoftwareKeystore(directory: directory), settings: settings)
    let password = SharedSecretBox(SecretBytes(copying: Array("correct horse".utf8)))
    let domain = DomainDraft(
      name: "user", protection: .password(password, .lock(limit: 5)),
      records: [RecordDraft(name: "signing-key", secret: SharedSecretBox(.random(byteCount: 32)))])
    let id = try await vault.addContainer(
      ContainerDraft(
        attributes: ContainerAttributes(userID: "alice", server: "localhost/main", name: "", serverID: ""),
        created: 0, domains: [domain]))
    try await vault.confirmContainer(id)
    var times: [Double] = []
    for _ in 0..<options.times(200) {
      _ = try await vault.open("user", of: id, with: .password(password.withSecret { $0.copy() }))
      times.append(Double(Clocks.wall - count.withLock(\.self)) / 1e6)
    }
    report.add(
      ReportRow(
        name: "vault unlock, in which a kill costs an attempt, p50", value: Samples(times).median, unit: "ms",
        goal: .valueBelow(5), notes: "the commit of the count, the test, the commit of the success"))
  }

  /// A container with 10,000 keys: opening the vault and the domain, finding one key, and the memory.
  private func manyKeys(_ report: inout Report) async throws {
    let count = 10_000
    let folder = try workFolder()
    let directory = folder.path + "/vault"
    let id: LocalContainerID
    do {
      let vault = try Vault(directory: directory, keystore: SoftwareKeystore(directory: directory))
      let records = (0..<count).map {
        RecordDraft(name: "key-\($0)", secret: SharedSecretBox(SecretBytes.random(byteCount: 32)))
      }
      id = try await vault.addContainer(
        ContainerDraft(
          attributes: ContainerAttributes(userID: "alice", server: "localhost/main", name: "", serverID: ""),
          created: 0, domains: [DomainDraft(name: "keys", protection: .device, records: records)]))
      try await vault.confirmContainer(id)
    }
    var openings: [Double] = []
    var findings: [Double] = []
    for number in 0..<options.times(30) {
      let start = Clocks.wall
      let vault = try Vault(directory: directory, keystore: SoftwareKeystore(directory: directory))
      let domain = try await vault.open("keys", of: id, with: .device)
      let opened = Clocks.wall
      try domain.withRecord("key-\(number * 331 % count)") { keep($0.byteCount) }
      findings.append(Double(Clocks.wall - opened))
      openings.append(Double(opened - start))
    }
    let memory = try openedElsewhere(directory)
    report.add([
      ReportRow(
        name: "vault with \(count) keys, open, p50", value: Samples(openings).median / 1e6, unit: "ms",
        goal: .valueBelow(50), notes: "file, keystore, slot and all sealed records"),
      ReportRow(
        name: "vault with \(count) keys, find one, p50", value: Samples(findings).median / 1e6, unit: "ms",
        goal: .valueBelow(1), notes: "AES-GCM of 32 bytes in it"),
      ReportRow(
        name: "vault with \(count) keys, memory", value: memory, unit: "MiB",
        goal: .valueBelow(40), notes: "the most that a process of its own had, all of it"),
    ])
  }

  /// Returns the peak memory of a new process that opens the vault and its keys, in MiB.
  ///
  /// In this process, freed memory of earlier measurements would be reused unnoticed.
  private func openedElsewhere(_ directory: String) throws -> Double {
    let answer = try LineProcess(LineProcess.ownPath, ["--open-vault", directory]).readLine()
    guard let kibibytes = Double(answer) else {
      throw BenchmarkFailure(description: "the process that opened a vault said \(answer)")
    }
    return kibibytes / 1024
  }

  /// The work of the other process: opens the vault and its first container's keys, and prints its peak memory in KiB.
  static func openVault(_ directory: String) async throws {
    let vault = try Vault(directory: directory, keystore: SoftwareKeystore(directory: directory))
    guard let container = try await vault.containers().first else { throw CocoaError(.fileReadNoSuchFile) }
    let domain = try await vault.open("keys", of: container.id, with: .device)
    try domain.withRecord("key-0") { keep($0.byteCount) }
    let status = String(
      decoding: FileManager.default.contents(atPath: "/proc/self/status") ?? Data(), as: UTF8.self)
    let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    print(peak?.split(separator: " ").dropLast().last.map(String.init) ?? "nothing")
  }

  private func calibration(_ report: inout Report) throws {
    let wanted = 250
    let cost = try Argon2id.calibrated(milliseconds: wanted)
    let password = SecretBytes(copying: Array("correct horse".utf8))
    let times = try (0..<options.times(15)).map { _ in
      let start = Clocks.wall
      keep(try cost.derive(password: password, salt: [UInt8](repeating: 1, count: 16), byteCount: 32))
      return Clocks.wall - start
    }
    let time = Samples(nanoseconds: times).median
    report.add(
      ReportRow(
        name: "Argon2id calibrated", value: time, unit: "ms", comparedWith: "asked for \(wanted) ms",
        ratio: Double(wanted) / time, notes: "\(cost.memoryKiB / 1024) MiB, \(cost.passes) passes"))
  }
}
