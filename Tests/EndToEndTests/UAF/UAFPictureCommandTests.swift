import Foundation
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import SignetUAF
import Testing
import UAFFixture

/// The confirmation of a relying party's picture, in two processes over TLS.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UAFPictureCommandTests {
  private static let pin = "271828"

  private func context(_ pictures: UAFTestPicture...) -> JSONObject {
    let forms = pictures.map { picture -> JSONValue in
      [
        "contentType": "image/png", "content": .string(Base64URL.encode(picture.bytes)),
        "tcDisplayPNGCharacteristics": .object(picture.characteristics.json),
      ]
    }
    return ["username": "alice", "transaction": .array(forms)]
  }

  private func registered() async throws -> (UAFParty, InstalledSignet) {
    let party = try await UAFParty.start()
    let device = party.device()
    let link = try await party.link("registration", ["username": "alice"])
    let made = try await device.run(
      ["uaf", "oob", "run", link, "-a", "pin", "--device-name", "laptop"] + party.words, passwords: [Self.pin]
    )
    try #require(made.status == 0, made.summary)
    return (party, device)
  }

  @Test("the picture is written to a file before the PIN is asked for, byte by byte as it is signed")
  func confirms() async throws {
    let (party, device) = try await registered()
    let (link, session) = try await party.dispatch(
      "authentication", context(UAFTestPicture(33, 20), UAFTestPicture(320, 200)))
    let code = try party.server.write(link, to: "picture.link")
    let file = "\(party.server.folder.path)/confirm.png"
    let confirmed = try await device.run(
      ["uaf", "oob", "run", code, "--picture", file] + party.words, passwords: [Self.pin])
    #expect(confirmed.status == 0 && confirmed.errorOutput.contains("look at it now"), confirmed.summary)
    // The first format, in the server's order, that can be shown unchanged.
    let shown = Array(try Data(contentsOf: URL(filePath: file)))
    #expect(shown == UAFTestPicture(33, 20).bytes)
    #expect(try await party.status(session) == "succeeded")
    await party.server.stop()
  }

  @Test("without an output file for the picture nothing is confirmed, and the missing option is named")
  func asksForAFile() async throws {
    let (party, device) = try await registered()
    let (link, session) = try await party.dispatch("authentication", context(UAFTestPicture(320, 200)))
    let code = try party.server.write(link, to: "picture.link")
    let refused = try await device.run(["uaf", "oob", "run", code] + party.words, passwords: [Self.pin])
    #expect(refused.isRefusal(64, "--picture"), refused.summary)
    #expect(try await party.status(session) == "failed")
    await party.server.stop()
  }

  @Test("the server refuses a picture that is damaged or that the device cannot display")
  func refuses() async throws {
    let (party, device) = try await registered()
    var cut = UAFTestPicture(320, 200)
    cut.edit = { $0[1].data.removeSubrange(($0[1].data.count / 2)...) }
    for picture in [UAFTestPicture(321, 200), UAFTestPicture(320, 200, colourType: 4), cut] {
      let answer = try await party.post(
        "/token/create/authentication", ["context": .string(context(picture).text)])
      #expect(answer.status == 400)
      let reason = try JSONObject(parsing: answer.body).string("error")
      #expect(reason.contains("display"), "\(reason)")
    }
    let waiting = try await device.run(["uaf", "pending"] + party.words)
    #expect(waiting.status == 0 && waiting.errorOutput == "Nothing waits.\n", waiting.summary)
    await party.server.stop()
  }
}
