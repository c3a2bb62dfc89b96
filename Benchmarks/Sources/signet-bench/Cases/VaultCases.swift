import Foundation
import SignetCrypto
import SignetPolicy
@testable import SignetVault

extension Bench {
  /// What a password costs, and what opening a vault costs besides.
  func vault(_ report: inout Report) async throws {
    try await unlocking(&report)
    try await manyKeys(&report)
    try calibration(&report)
  }

  private func unlocking(_ report: inout Report) async throws {
    let folder = try workFolder()
    let directory = folder.path + "/vault"
    let vault = try Vault(
      directory: directory, keystore: SoftwareKeystore(directory: directory), cost: .fixed(.minimum))
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
    let (overhead, derivation) = (Samples(overheads), Samples(derivations))
    let beside = "the KDF itself, Argon2id 19 MiB, 2 passes: p50 \(derivation.median.formatted()) ms"
    report.add([
      Measurement(
        name: "vault unlock minus KDF, p50", value: overhead.median, unit: "ms", comparedWith: beside,
        goal: .valueBelow(10)),
      Measurement(
        name: "vault unlock minus KDF, p99 of \(overhead.count)", value: overhead.percentile(99), unit: "ms",
        comparedWith: "two durable commits are in it"),
    ])
  }

  /// A container with 10,000 keys: opening the vault and the domain, finding one key, and what that takes in memory.
  private func manyKeys(_ report: inout Report) async throws {
    let count = 10_000
    let folder = try workFolder()
    let directory = folder.path + "/vault"
    let id: ContainerID
    // Before any of it was made, so that nothing is left over to be used again unseen.
    let before = residentKibibytes()
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
    var after = before
    for number in 0..<options.times(30) {
      let start = Clocks.wall
      let vault = try Vault(directory: directory, keystore: SoftwareKeystore(directory: directory))
      let domain = try await vault.open("keys", of: id, with: .device)
      let opened = Clocks.wall
      try domain.withRecord("key-\(number * 331 % count)") { keep($0.byteCount) }
      findings.append(Double(Clocks.wall - opened))
      openings.append(Double(opened - start))
      after = max(after, residentKibibytes())
    }
    report.add([
      Measurement(
        name: "vault with \(count) keys, open, p50", value: Samples(openings).median / 1e6, unit: "ms",
        comparedWith: "file, keystore, slot and all sealed records", goal: .valueBelow(50)),
      Measurement(
        name: "vault with \(count) keys, find one, p50", value: Samples(findings).median / 1e6, unit: "ms",
        comparedWith: "AES-GCM of 32 bytes in it", goal: .valueBelow(1)),
      Measurement(
        name: "vault with \(count) keys, memory", value: Double(after - before) / 1024, unit: "MiB",
        comparedWith: "more than before the vault was made", goal: .valueBelow(40)),
    ])
  }

  /// The memory of this process that is in use; 0 where the system does not say.
  private func residentKibibytes() -> Int {
    guard let status = FileManager.default.contents(atPath: "/proc/self/status") else { return 0 }
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { $0.split(separator: " ").dropLast().last.flatMap { Int($0) } } ?? 0
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
      Measurement(
        name: "Argon2id calibrated (\(cost.memoryKiB / 1024) MiB, \(cost.passes) passes)", value: time,
        unit: "ms",
        comparedWith: "asked for \(wanted) ms", ratio: Double(wanted) / time))
  }
}
