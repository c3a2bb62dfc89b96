import Foundation
import SignetPolicy
import SignetTestKit
import SignetVault
import Testing

@Suite("Trusted system clock")
struct SystemTrustedClockTests {
  @Test("the clock has the kernel's boot id and a running time since boot")
  func bootTimeGoesOn() throws {
    let clock = try SystemTrustedClock()
    let line = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    let before = clock.now
    let after = clock.now
    #expect(
      before.boot.bootID.bytes.map { String(format: "%02x", $0) }.joined()
        == line.filter(\.isHexDigit))
    #expect(before.boot.bootID == after.boot.bootID)
    #expect(after.boot.milliseconds(since: before.boot) >= 0)
    #expect(after.boot.millisecondsSinceBoot >= before.boot.millisecondsSinceBoot)
    // /proc/uptime is the same time, in hundredths, read a moment later.
    let uptime = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
    let seconds = try #require(Double(uptime.prefix { $0 != " " }))
    #expect(after.boot.millisecondsSinceBoot <= Int64(seconds * 1_000) + 10)
    #expect(after.millisecondsAwake >= before.millisecondsAwake)
    #expect(after.millisecondsAwake <= after.boot.millisecondsSinceBoot)
    #expect(abs(before.wallSeconds - Int64(Date().timeIntervalSince1970)) <= 60)
  }

  @Test(
    "an invalid boot id is refused",
    arguments: [
      "", "\n", "0", "6f1f7b1e-0000-4000-8000-00000000000", "6f1f7b1e-0000-4000-8000-0000000000000",
      "6f1f7b1e-0000-4000-8000-000000000000\n\n", "6f1f7b1e 0000 4000 8000 000000000000",
      "zf1f7b1e-0000-4000-8000-000000000000", String(repeating: "6", count: 10_000),
    ])
  func malformed(_ content: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("boot_id")
    try Data(content.utf8).write(to: URL(filePath: path))
    #expect(throws: ClockFailure.bootIDMalformed(path: path)) { try SystemTrustedClock(bootIDPath: path) }
  }

  @Test("a missing or malformed boot id is an error")
  func missing() throws {
    let folder = try TemporaryFolder()
    for path in [folder.file("none"), folder.path] {
      #expect(throws: ClockFailure.bootIDMissing(path: path)) { try SystemTrustedClock(bootIDPath: path) }
    }
  }

  @Test("another boot id is another run at any time since boot")
  func reboot() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("boot_id")
    try Data("6f1f7b1e-0000-4000-8000-000000000000\n".utf8).write(to: URL(filePath: path))
    let before = try SystemTrustedClock(bootIDPath: path).now.boot
    try Data("6f1f7b1e-0000-4000-8000-000000000001\n".utf8).write(to: URL(filePath: path))
    let after = try SystemTrustedClock(bootIDPath: path).now.boot
    #expect(after.bootID != before.bootID)
    #expect(after.milliseconds(since: before) == after.millisecondsSinceBoot)
  }
}
