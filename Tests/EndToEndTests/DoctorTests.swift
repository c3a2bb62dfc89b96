import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// `signet doctor` and the states of `signet list`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DoctorTests {
  private let password = "winter-garden-42"

  private func activated(_ words: [String]) async throws -> (RunningServer, InstalledSignet) {
    let server = try await RunningServer.startWithShop(words)
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [password])
    return (server, device)
  }

  private func state(_ device: InstalledSignet) async throws -> JSONObject {
    guard case .object(let container)? = try await device.json("list").array("containers").first else {
      throw JSONFailure.missingMember("containers")
    }
    return try container.object("lock")
  }

  /// The findings about a subject: weights and sentences.
  private func found(_ subject: String, _ report: JSONObject) throws -> [String] {
    try report.array("findings").compactMap { value in
      guard case .object(let finding) = value, try finding.string("subject") == subject else { return nil }
      return try "\(finding.string("weight")) \(finding.string("finding"))"
    }
  }

  @Test("a healthy device has no problem; its weaknesses are reported")
  func healthy() async throws {
    let (server, device) = try await activated(["--attempts", "3"])
    let before = try FolderSnapshot(device.data)
    let report = try await device.run("doctor")
    #expect(report.status == 0, report.summary)
    for line in [
      "ok      data folder: \(device.data) is accessible to this user only\n",
      "note    keys: the keys are tied to a file that can be copied",
      "ok      credentials: all keys can be opened\n",
      "ok      clock: it is not behind the latest time seen\n",
      "alice at \(server.url): the container is in order\n",
      "note    servers: none was contacted", "-> contact them: signet pending\n",
      "Nothing needs doing on this device.\n",
    ] { #expect(report.output.contains(line), report.summary) }
    let object = try await device.json("doctor")
    #expect(try object.bool("healthy"))
    #expect(try found("memory", object) == ["fine secrets are kept out of swap"])
    #expect(try !found("keys", object).contains { $0.contains("lockout") })
    #if os(Linux)
      // Each feature is reported as this machine has it; `FingerprintTests` and `PasscodeCommandTests` have the other cases.
      let fingers = try #require(try found("fingerprints", object).first)
      #expect(
        [
          "fine fingers of this user are enrolled", "note there is no reader that fprintd can use",
          "note there is a reader, and no finger of this user is enrolled",
        ].contains(fingers) || fingers.hasPrefix("note the fingerprint reader failed ("), "\(fingers)")
      let hasService = ["/etc/pam.d", "/usr/lib/pam.d"].contains {
        FileManager.default.fileExists(atPath: "\($0)/signet")
      }
      #expect(
        try found("passcode", object) == [
          hasService
            ? "fine PAM checks it by the service “signet”"
            : "note PAM has no service “signet”, so nothing checks it"
        ])
    #endif
    #expect(try FolderSnapshot(device.data) == before)
    await server.stop()
  }

  @Test("a device that is not activated has no problem, and no file is created")
  func missing() async throws {
    let folder = try TemporaryFolder()
    let report = try await InstalledSignet(data: "\(folder.path)/none").run("doctor")
    #expect(report.status == 0 && report.output.contains("-> activate this device"), report.summary)
    #expect(!report.output.contains("servers: "), report.summary)
    #expect(try FolderSnapshot(folder.path).paths.isEmpty)
  }

  @Test("a data folder that others can write and a missing key are problems")
  func broken() async throws {
    let (server, device) = try await activated([])
    await server.stop()
    #expect(chmod(device.data, 0o777) == 0)
    let open = try await device.run("doctor")
    #expect(
      open.status == 1 && open.output.contains("PROBLEM data folder: other users may write"), open.summary)
    #expect(chmod(device.data, 0o700) == 0)
    try FileManager.default.removeItem(atPath: "\(device.data)/software-keystore.key")
    let lost = try await device.run("doctor", "--json")
    #expect(lost.status == 1 && lost.output.contains("register again"), lost.summary)
    #expect(lost.output.contains(#""healthy":false"#), lost.summary)
  }

  @Test("a revocation by the server is reported once the server was contacted")
  func revoked() async throws {
    let (server, device) = try await activated([])
    let id = try #require(try await server.activeContainers("alice").first)
    #expect(try await server.run("container", "revoke", id).status == 0)
    #expect(try await device.run("doctor").status == 0)
    #expect(try await device.run("pending").status != 0)
    let doctor = try await device.run("doctor")
    #expect(
      doctor.status == 1
        && doctor.output.contains("PROBLEM alice at \(server.url): its server does not know it any more"),
      doctor.summary)
    #expect(try await device.run("list").output.contains("  unknown to its server  "))
    guard case .object(let listed)? = try await device.json("list").array("containers").first else {
      throw JSONFailure.missingMember("containers")
    }
    #expect(try listed.integer("unknownToServerSince") > 1_700_000_000)
    await server.stop()
  }

  @Test("secrets that cannot be locked in memory are a problem", .enabled(if: Nobody.canRun))
  func memory() async throws {
    let folder = try TemporaryFolder()
    #expect(chmod(folder.path, 0o755) == 0)
    var device = InstalledSignet(data: "\(folder.path)/none")
    device.program = try Nobody.copy(of: InstalledSignet.executable(), in: folder)
    device.launcher = ["/usr/bin/prlimit", "--memlock=65536:65536"] + Nobody.launcher
    let report = try await device.run("doctor")
    #expect(report.status == 1 && report.output.contains("PROBLEM memory: "), report.summary)
    #expect(report.output.contains("limits.conf"), report.summary)
  }

  @Test("the list and the doctor report locked, waiting and erased containers")
  func locks() async throws {
    let wrong = "summer-garden-42"
    let (first, locking) = try await activated(["--attempts", "2"])
    #expect(try await state(locking).string("state") == "unlocked")
    _ = try await locking.run("otp", passwords: [wrong])
    #expect(try await state(locking).string("state") == "lastAttemptFailed")
    #expect(try await state(locking).integer("remaining") == 1)
    #expect(try await locking.run("list").output.contains("active, 1 try left"))
    #expect(try await locking.run("doctor").status == 0)
    _ = try await locking.run("otp", passwords: [wrong])
    #expect(try await state(locking).string("state") == "lockedOut")
    #expect(try await locking.run("list").output.contains("  locked  "))
    let doctor = try await locking.run("doctor")
    #expect(doctor.status == 1 && doctor.output.contains("-> use the recovery code"), doctor.summary)
    await first.stop()

    let rules = "UP=0;LOW=0;NUM=0;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=20"
    let (second, waiting) = try await activated([
      "--policy", "\(rules);LOCKTYPE=delay;LOCKDELAY=600;LOCKCOUNTER=4",
    ])
    _ = try await waiting.run("otp", passwords: [wrong])
    #expect(try await state(waiting).string("state") == "waiting")
    let wait = try await state(waiting).integer("retryAfter")
    #expect((1...600).contains(wait))
    #expect(try await waiting.run("list").output.contains("waits "))
    #expect(try await waiting.run("doctor").status == 0)
    await second.stop()
  }
}
