import SignetServerTesting
import SignetStorage
import Testing

/// The owner that may use a known public key.
@Suite struct KeyHolderRulesTests {
  private static func held(
    by kind: AuthenticatorRecord.Kind = .container, _ authenticator: String = "c", of user: UserID = "alice"
  ) -> RegisteredPublicKey {
    .held(by: KeyHolder(kind: kind, authenticator: authenticator, user: user))
  }

  @Test(
    "a key belongs to one authenticator of one user, or to none if the holder was deleted",
    arguments: [
      (held(), true), (held(by: .uaf), false), (held(by: .container, "d"), false), (held(of: "bob"), false),
      (held(by: .container, ""), false), (held(of: ""), false), (.forgotten, false),
    ] as [(RegisteredPublicKey, Bool)])
  func holders(_ key: RegisteredPublicKey, isItsOwn: Bool) {
    let holder = KeyHolder(kind: .container, authenticator: "c", user: "alice")
    #expect(key.isTaken(for: holder) == !isItsOwn)
  }

  // KELVIN SIGN equals K as a string.
  @Test("names that are equal as strings but not as bytes are of two holders")
  func bytes() {
    for (name, user) in [("\u{212A}", "K"), ("K", "\u{212A}")] as [(String, UserID)] {
      let holder = KeyHolder(kind: .uaf, authenticator: "K", user: "K")
      #expect(Self.held(by: .uaf, name, of: user).isTaken(for: holder))
      #expect(!Self.held(by: .uaf, "K", of: "K").isTaken(for: holder))
    }
  }

  @Test(
    "a new container may reuse only keys of pending containers that it replaces",
    arguments: [
      ([], false), ([held(by: .container, "p")], false),
      ([held(by: .container, "p"), held(by: .container, "q")], false),
      ([held(by: .container, "c")], true), ([held(by: .container, "p"), held(by: .container, "c")], true),
      ([held(by: .uaf, "p")], true), ([.forgotten], true), ([held(by: .container, "\u{212A}")], true),
    ] as [([RegisteredPublicKey], Bool)])
  func containers(_ registered: [RegisteredPublicKey], isTaken: Bool) {
    let new = ContainerRecord.rule("new", .pending)
    #expect(new.hasTakenKey(among: registered, replacing: ["p", "q", "K"]) == isTaken)
  }

  @Test("a new container has a key for each of its uses")
  func uses() {
    for (session, encryption, signing, isTaken) in [
      (1, 2, 3, false), (1, 1, 3, true), (1, 2, 1, true), (1, 2, 2, true), (1, 1, 1, true),
    ] as [(UInt8, UInt8, UInt8, Bool)] {
      var new = ContainerRecord.rule("new", .pending)
      (new.sessionKey, new.encryptionKey, new.signingKey) = ([session], [encryption], [signing])
      #expect(
        new.hasTakenKey(among: [], replacing: []) == isTaken, "\(session) \(encryption) \(signing)")
    }
  }
}
