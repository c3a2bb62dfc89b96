import SignetCrypto
import SignetPolicy
@testable import SignetVault

extension Bench {
  /// What a password costs, and what opening a vault costs besides.
  func vault(_ report: inout Report) async throws {
    try await unlocking(&report)
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
