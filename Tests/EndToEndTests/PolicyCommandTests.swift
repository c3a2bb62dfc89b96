import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// Policies from a server's command line to a device's.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PolicyCommandTests {
  @Test("the device explains a server's policy string in sentences")
  func explain() async throws {
    let string = "UP=0;LOW=0;NUM=1;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=20;LOCKTYPE=lock;LOCKCOUNTER=3"
    let server = try await RunningServer.startWithShop(["--policy", string])
    let device = server.device()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: ["winter-garden-42"])
    let text = try await device.run("policy", "explain")
    #expect(text.status == 0, text.summary)
    // No hardware protects the keys here, and the text says so: a copy of the folder works.
    #expect(!text.output.contains("on this device only"))
    #expect(
      text.output.contains(
        "The keys work wherever the files of this device are copied to, and with a password.\nNo hardware protects them: "
      ))
    let copy = "\(device.data)-copy"
    try FileManager.default.copyItem(atPath: device.data, toPath: copy)
    let elsewhere = InstalledSignet(data: copy, authority: device.authority)
    let code = try await elsewhere.json("otp", passwords: ["winter-garden-42"])
    #expect(try code.string("code").count == 6)
    #expect(
      text.output.contains(
        "A new password: 8 to 20 characters, at least 1 digit, no sequences such as 123 or cba.\n"))
    #expect(
      text.output.contains(
        "After 3 wrong passwords in a row the keys are locked; only a recovery code unlocks them.\n"))
    let object = try await device.json("policy", "explain")
    #expect(try object.string("string") == string)
    #expect(try object.object("policy").string("type") == "password")
    #expect(try object.array("sentences").count == 4)
    await server.stop()
  }
}
