import SignetUAF
import Testing
import UAFFixture

@Suite struct CommandTests {
  private static let hash = [UInt8](repeating: 9, count: 32)
  private static let commands: [AuthenticatorCommand] = [
    .getInfo, .openSettings(index: 3),
    .register(
      .init(
        index: 1, appID: "a", finalChallengeHash: hash, userName: "u", attestationType: .basicSurrogate,
        accessToken: hash, userVerifyToken: [1])),
    .register(
      .init(
        index: 1, appID: nil, finalChallengeHash: hash, userName: "u", attestationType: .basicFull,
        accessToken: hash)),
    .sign(
      .init(
        index: 1, appID: "a", finalChallengeHash: hash, transactionContent: [1], transactionHash: hash,
        accessToken: hash, userVerifyToken: [2], keyHandles: [[1], [2, 3]])),
    .sign(.init(index: 1, appID: nil, finalChallengeHash: hash, accessToken: hash, keyHandles: [])),
    .deregister(.init(index: 1, appID: "a", keyID: .random(), accessToken: hash)),
    .deregister(.init(index: 1, appID: nil, keyID: nil, accessToken: hash)),
  ]

  private static let answers: [AuthenticatorAnswer] = {
    var description = AuthenticatorDescription(
      UAFTestKey().statement(), index: 2, kind: [.isUserEnrolled, .hasSettings], maximumKeyHandles: 4)
    description.supportedExtensionIDs = ["x"]
    return [
      AuthenticatorAnswer(.getInfo, .ok, .info(apiVersion: 1, [description, description])),
      AuthenticatorAnswer(.getInfo, .ok, .info(apiVersion: 1, [])),
      AuthenticatorAnswer(.register, .ok, .registered(assertion: [1], keyHandle: [2])),
      AuthenticatorAnswer(.register, .ok, .registered(assertion: [1], keyHandle: [])),
      AuthenticatorAnswer(.register, .userLockout), AuthenticatorAnswer(.sign, .ok, .signed(assertion: [1])),
      AuthenticatorAnswer(
        .sign, .ok,
        .choice([.init(userName: "a", keyHandle: [1]), .init(userName: "b", keyHandle: [2])])),
      AuthenticatorAnswer(.deregister, .ok), AuthenticatorAnswer(.openSettings, .commandNotSupported),
    ]
  }()

  @Test("written commands survive a round trip") func roundTrip() throws {
    for command in Self.commands { #expect(try AuthenticatorCommand(parsing: command.encoded) == command) }
    for answer in Self.answers { #expect(try AuthenticatorAnswer(parsing: answer.encoded) == answer) }
    #expect(AuthenticatorCommand.getInfo.encoded == [0x01, 0x34, 0, 0])
    #expect(AuthenticatorCommand.openSettings(index: 3).encoded == [0x06, 0x34, 5, 0, 0x0D, 0x28, 1, 0, 3])
  }

  @Test("a truncated command and one with a trailing byte are refused") func cut() {
    for bytes in Self.commands.map(\.encoded) {
      for count in 0..<bytes.count {
        #expect(throws: AuthenticatorCommandFailure.self) {
          _ = try AuthenticatorCommand(parsing: Array(bytes[..<count]))
        }
      }
      #expect(throws: AuthenticatorCommandFailure.notACommand) {
        _ = try AuthenticatorCommand(parsing: bytes + [0, 0, 0, 0])
      }
    }
    for bytes in Self.answers.map(\.encoded) {
      for count in 0..<bytes.count {
        #expect(throws: AuthenticatorCommandFailure.self) {
          _ = try AuthenticatorAnswer(parsing: Array(bytes[..<count]))
        }
      }
    }
  }

  @Test("missing, repeated, malformed and unknown elements are refused") func malformed() {
    func refusal(_ elements: [UAFTestKey.Element], _ tag: TLVTag) -> AuthenticatorCommandFailure? {
      #expect(throws: AuthenticatorCommandFailure.self) {
        _ = try AuthenticatorCommand(parsing: UAFTestKey.composite(tag, elements))
      }
    }
    let index = UAFTestKey.Element(.authenticatorIndex, [1])
    #expect(refusal([], .openSettingsCommand) == .missing(.authenticatorIndex))
    #expect(refusal([index, index], .openSettingsCommand) == .repeated(.authenticatorIndex))
    #expect(
      refusal([.init(.authenticatorIndex, [1, 2])], .openSettingsCommand) == .content(.authenticatorIndex))
    #expect(refusal([index, .init(.appID, [0x61])], .openSettingsCommand) == .unknownCritical(.appID))
    #expect(refusal([index], .openSettingsAnswer) == .notACommand)
    let token = UAFTestKey.Element(.keyHandleAccessToken, Self.hash)
    #expect(refusal([index, token, .init(.keyID, [1])], .deregisterCommand) == .content(.keyID))
    #expect(
      refusal([index, token, .init(.keyID, []), .init(.appID, [0xFF])], .deregisterCommand)
        == .content(.appID))
    #expect(throws: AuthenticatorCommandFailure.tooLong(65_536)) {
      _ = try AuthenticatorCommand(parsing: [UInt8](repeating: 0, count: 65_536))
    }
    // An ignorable element is ignored.
    let ignored = UAFTestKey.composite(.openSettingsCommand, [index, .init(TLVTag(rawValue: 0x0777), [])])
    #expect(throws: Never.self) { _ = try AuthenticatorCommand(parsing: ignored) }
  }

  @Test("an unknown status is an unknown failure without other members") func unknownStatus()
    throws
  {
    let bytes = UAFTestKey.composite(
      .signAnswer, [.init(.statusCode, [0x77, 0x77]), .init(.authenticatorAssertion, [1])])
    let answer = try AuthenticatorAnswer(parsing: bytes)
    #expect(answer.status == .unknown && answer.payload == .nothing)
  }
}
