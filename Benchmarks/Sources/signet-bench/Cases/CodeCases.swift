import BenchReport
import SignetCrypto
import SignetOATH

extension Bench {
  /// One-time codes: generation, and verification within a window of three as on a server.
  func codes(_ report: inout Report) async throws {
    let bytes = Array("12345678901234567890".utf8)
    let peers = try peers(["liboath"], &report)
    let raw = try RawHMAC(key: bytes)
    let hotp = try HOTP(secret: SecretBytes(copying: bytes))
    var counter: UInt64 = 0
    let made = try race.run(
      [
        Race.Contender("HOTP") {
          keep(hotp.code(at: counter))
          counter &+= 1
        },
        // A fair comparison: liboath receives the secret with each code.
        Race.Contender("HOTP, key taken each time") {
          keep(try HOTP(secret: SecretBytes(copying: bytes)).code(at: counter))
          counter &+= 1
        },
        Race.Contender("OpenSSL HMAC-SHA-1, key kept") { try raw.run() },
      ] + peers.map { $0.contender("generate") })
    // The first is the library's usual use: one key makes many codes.
    for (ours, name) in zip(made, ["HOTP codes, key kept", "HOTP codes, key taken each time"]) {
      report.add(
        made.dropFirst(2).enumerated().map { place, other in
          ReportRow(
            name: "\(name), beside \(other.name)", value: ours.rate, unit: "codes/s",
            comparedWith: other.described("/s"), ratio: ours.ratio(to: other), goal: place == 0 ? nil : .ahead
          )
        })
    }

    let now: Int64 = 1_700_000_000
    let earlier = try TOTP(secret: SecretBytes(copying: bytes)).code(at: now - 30).code
    let checked = try race.run(
      [
        Race.Contender("TOTP check") {
          let totp = try TOTP(secret: SecretBytes(copying: bytes))
          keep(TOTPWindow.standard.verdict(on: earlier, from: totp, at: now, lastAccepted: nil))
        }
      ] + peers.map { $0.contender("validate") })
    report.add(
      ReportRow(
        name: "TOTP checks, key taken each time, window of 3", value: checked[0].rate, unit: "checks/s",
        comparedWith: checked.dropFirst().map { $0.described("/s") }.joined(),
        ratio: checked.dropFirst().first.map { checked[0].ratio(to: $0) },
        goal: checked.count > 1 ? .ahead : nil))
  }
}
