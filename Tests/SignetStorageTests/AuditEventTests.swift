import SignetServerTesting
import SignetStorage
import Testing

/// The JSON of every event: listings and their readers depend on its names and their order.
@Suite struct AuditEventTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let event: AuditEvent
    /// The members after `time`, without the braces.
    let members: String
    var testDescription: String { members }

    init(_ event: AuditEvent, _ members: String) { (self.event, self.members) = (event, members) }
  }

  private static let answer = AuditEvent.UAFAnswer(
    session: "s", user: "al", keys: #"[{"aaid":"5167#1001"}]"#, transaction: "t", outdated: ["a", "b"])
  private static let fromKeys =
    #""session":"s","user":"al","keys":"[{\"aaid\":\"5167#1001\"}]","transaction":"t","outdated":"a b""#

  private static let samples: [Sample] = [
    // Users
    Sample(.userAdded(user: "al"), #""event":"user.added","by":"local","user":"al""#),
    Sample(
      .uafTokenRefused(user: "al", operation: "Auth", target: "t", .tooManyPending(retryAfter: 3)),
      #""event":"uaf.notAsked","by":"local","user":"al","operation":"Auth","target":"t","reason":"the user has too many pending requests""#
    ),
    Sample(
      .userSuspended(user: "al", reason: "left"),
      #""event":"user.suspended","by":"local","user":"al","reason":"left""#),
    Sample(.userRenamed(user: "al"), #""event":"user.renamed","by":"local","user":"al""#),
    Sample(.userResumed(user: "al"), #""event":"user.resumed","by":"local","user":"al""#),
    Sample(.userDeleted(user: "al"), #""event":"user.deleted","by":"local","user":"al""#),
    Sample(.userUnlocked(user: "al"), #""event":"user.unlocked","by":"local","user":"al""#),
    Sample(.userCodeSet(user: "al"), #""event":"user.codeSet","by":"local","user":"al""#),
    Sample(.userCodeRemoved(user: "al"), #""event":"user.codeRemoved","by":"local","user":"al""#),
    Sample(.userCodeAccepted(user: "al"), #""event":"userCode.accepted","by":"local","user":"al""#),
    Sample(
      .userCodeRefused(user: "al", .waiting),
      #""event":"userCode.refused","by":"local","user":"al","reason":"not checked: the client must wait""#),
    // One-time codes
    Sample(
      .codeAccepted(user: "al", .container("c")),
      #""event":"code.accepted","by":"local","user":"al","container":"c""#),
    Sample(
      .codeRefused(user: nil, .replayed, locked: []),
      #""event":"code.refused","by":"local","reason":"replayed code: this code or a later one was already used""#
    ),
    Sample(
      .codesResynchronised(user: "al", .token("s1")),
      #""event":"codes.resynchronised","by":"local","user":"al","token":"s1""#),
    Sample(
      .codesRefused(user: "al", .wrongPair, locked: ["c", "s1"]),
      #""event":"codes.refused","by":"local","user":"al","reason":"wrong or not consecutive codes, or no active credential","locked":"c s1""#
    ),
    // Tokens
    Sample(
      .tokenAdded(token: "s1", user: "al"),
      #""event":"token.added","by":"local","token":"s1","user":"al""#),
    Sample(.tokenAssigned(token: "s1", user: nil), #""event":"token.assigned","by":"local","token":"s1""#),
    Sample(
      .tokenVerified(user: "al", .token("s1")),
      #""event":"token.verified","by":"local","user":"al","token":"s1""#),
    Sample(
      .tokenRefused(user: "al", .wrongTokenCode, locked: ["s1"]),
      #""event":"token.refused","by":"local","user":"al","reason":"wrong or expired code, or no token to verify","locked":"s1""#
    ),
    Sample(.tokenDisabled(token: "s1"), #""event":"token.disabled","by":"local","token":"s1""#),
    Sample(.tokenEnabled(token: "s1"), #""event":"token.enabled","by":"local","token":"s1""#),
    Sample(.tokenRemoved(token: "s1"), #""event":"token.removed","by":"local","token":"s1""#),
    // Activation and renewal
    Sample(
      .activationAdded(user: "al", activation: "a"),
      #""event":"activation.added","by":"local","user":"al","activation":"a""#),
    Sample(
      .activationStaged(user: "al", activation: "a", container: "c", keystore: "tpm", keys: "hardware"),
      #""event":"activation.staged","by":"local","user":"al","activation":"a","container":"c","keystore":"tpm","keys":"hardware""#
    ),
    Sample(
      .activationRefused(user: "al", activation: "a", .wrongProof(remaining: 2)),
      #""event":"activation.refused","by":"local","user":"al","activation":"a","reason":"wrong proof","remaining":"2""#
    ),
    Sample(
      .activationRefused(user: "al", activation: "a", .keystore("software")),
      #""event":"activation.refused","by":"local","user":"al","activation":"a","reason":"unsupported device: keystore software""#
    ),
    Sample(
      .containerRenewalRequested(container: "c"),
      #""event":"container.renewalAsked","by":"local","container":"c""#),
    Sample(
      .renewalStaged(user: "al", container: "c", successor: "d", keystore: "tpm", keys: "hardware"),
      #""event":"renewal.staged","by":"local","user":"al","container":"c","successor":"d","keystore":"tpm","keys":"hardware""#
    ),
    Sample(
      .renewalRefused(user: "al", container: "c", .keyTaken),
      #""event":"renewal.refused","by":"local","user":"al","container":"c","reason":"a key belongs to another authenticator""#
    ),
    // Containers
    Sample(
      .containerActivated(user: "al", container: "c"),
      #""event":"container.activated","by":"local","user":"al","container":"c""#),
    Sample(
      .containerRenewed(user: "al", container: "d", renews: "c", renewals: 3),
      #""event":"container.renewed","by":"local","user":"al","container":"d","renews":"c","renewals":"3""#),
    Sample(
      .containerRefused(user: "al", container: "c"),
      #""event":"container.refused","by":"local","user":"al","container":"c""#),
    Sample(
      .containerRevoked(container: "c"), #""event":"container.revoked","by":"local","container":"c""#),
    Sample(
      .containerDeleted(user: "al", container: "c", reason: "sold", deviceTime: 5),
      #""event":"container.deleted","by":"local","user":"al","container":"c","reason":"sold","deviceTime":"5""#
    ),
    Sample(
      .containerReset(user: "al", container: "c", reason: "", deviceTime: 5),
      #""event":"container.reset","by":"local","user":"al","container":"c","deviceTime":"5""#),
    Sample(
      .containerWiped(user: "al", container: "c", reason: "", deviceTime: 5),
      #""event":"container.wiped","by":"local","user":"al","container":"c","deviceTime":"5""#),
    // Account policies
    Sample(
      .accountReported(user: "al", container: "c", reaction: "lock", reason: "rooted", policies: ["a", "b"]),
      #""event":"account.reported","by":"local","user":"al","container":"c","reaction":"lock","reason":"rooted","policies":"a b""#
    ),
    Sample(
      .accountReportRefused(user: "al", container: "c"),
      #""event":"account.reportRefused","by":"local","user":"al","container":"c","reason":"it answers no open challenge""#
    ),
    Sample(
      .accountOrdered(container: "c", order: "o", .wipe, reason: "lost"),
      #""event":"account.ordered","by":"local","container":"c","order":"o","action":"wipe","reason":"lost""#),
    Sample(
      .accountOrderDone(user: "al", container: "c", order: "o", .lock, deviceTime: 5),
      #""event":"account.orderDone","by":"local","user":"al","container":"c","order":"o","action":"lock","deviceTime":"5""#
    ),
    Sample(
      .containerAltered(user: "al", container: "c"),
      #""event":"container.altered","by":"local","user":"al","container":"c","reason":"its row was not written by this server""#
    ),
    Sample(
      .accountAltered(user: "al", container: "c"),
      #""event":"account.altered","by":"local","user":"al","container":"c","reason":"its row was not written by this server""#
    ),
    Sample(
      .accountPoliciesAttached(container: "c", policies: nil),
      #""event":"account.policiesAttached","by":"local","container":"c","policies":"those of the profile""#),
    Sample(
      .accountPoliciesAttached(container: "c", policies: []),
      #""event":"account.policiesAttached","by":"local","container":"c","policies":"""#),
    // Transactions
    Sample(
      .transactionAdded(user: nil, transaction: "t"),
      #""event":"transaction.added","by":"local","transaction":"t""#),
    Sample(
      .transactionNotAdded(user: "al", transaction: "t", .coolingDown(retryAfter: 9)),
      #""event":"transaction.notAdded","by":"local","user":"al","transaction":"t","reason":"too many requests in a row were not accepted""#
    ),
    Sample(
      .transactionAccepted(user: "al", transaction: "t"),
      #""event":"transaction.accepted","by":"local","user":"al","transaction":"t""#),
    Sample(
      .transactionAnswered(user: "al", transaction: "t", container: "c", .typed),
      #""event":"transaction.accepted","by":"local","user":"al","transaction":"t","container":"c","reason":"typed answer""#
    ),
    Sample(
      .transactionDenied(user: "al", transaction: "t"),
      #""event":"transaction.denied","by":"local","user":"al","transaction":"t""#),
    Sample(
      .transactionReported(user: "al", transaction: "t"),
      #""event":"transaction.reported","by":"local","user":"al","transaction":"t""#),
    Sample(
      .transactionInitiated(user: "al", transaction: "t"),
      #""event":"transaction.initiated","by":"local","user":"al","transaction":"t""#),
    Sample(
      .transactionCancelled(transaction: "t", reason: "notifySuspicious"),
      #""event":"transaction.cancelled","by":"local","transaction":"t","reason":"notifySuspicious""#),
    Sample(
      .transactionWithdrawn(transaction: "t", reason: ""),
      #""event":"transaction.withdrawn","by":"local","transaction":"t""#),
    Sample(
      .transactionExpired(transaction: "t"), #""event":"transaction.expired","by":"local","transaction":"t""#),
    Sample(
      .transactionRefused(user: "al", transaction: "t", .wrongNumber(remaining: 1)),
      #""event":"transaction.refused","by":"local","user":"al","transaction":"t","reason":"wrong number, 1 tries left""#
    ),
    Sample(
      .transactionRefused(user: nil, transaction: "t", .mismatch(reason: "No \"such\" one.")),
      #""event":"transaction.refused","by":"local","transaction":"t","reason":"No \"such\" one.""#),
    Sample(
      .transactionAnswerRefused(user: "al", transaction: "t", .offline, .notSigned),
      #""event":"transaction.refused","by":"local","user":"al","transaction":"t","reason":"wrong offline answer""#
    ),
    Sample(
      .transactionAnswerRefused(user: "al", transaction: "t", .typed, .locked),
      #""event":"transaction.refused","by":"local","user":"al","transaction":"t","reason":"too many wrong codes in a row; unlock the user""#
    ),
    // Push
    Sample(
      .pushTargetAdded(target: "p", service: "apns"),
      #""event":"push.target.added","by":"local","target":"p","service":"apns""#),
    Sample(
      .pushTargetChanged(target: "p", service: nil),
      #""event":"push.target.changed","by":"local","target":"p""#),
    Sample(.pushTargetRemoved(target: "p"), #""event":"push.target.removed","by":"local","target":"p""#),
    Sample(
      .pushTargetDropped(target: "p", container: "c", service: "fcm"),
      #""event":"push.target.dropped","by":"local","target":"p","container":"c","service":"fcm""#),
    // Authenticator apps
    Sample(
      .pushAuthEnrolment(user: "al", mechanism: "m", token: "s1"),
      #""event":"pushauth.enrolment","by":"local","user":"al","mechanism":"m","token":"s1""#),
    Sample(
      .pushAuthRegistered(user: "al", mechanism: "m", platform: "ios", service: "apns"),
      #""event":"pushauth.registered","by":"local","user":"al","mechanism":"m","platform":"ios","service":"apns""#
    ),
    Sample(
      .pushAuthDeviceChanged(user: "al", mechanism: "m", service: "fcm"),
      #""event":"pushauth.deviceChanged","by":"local","user":"al","mechanism":"m","service":"fcm""#),
    Sample(.pushAuthRemoved(mechanism: "m"), #""event":"pushauth.removed","by":"local","mechanism":"m""#),
    Sample(
      .pushAuthMessage(user: "al", mechanism: "m", message: "n"),
      #""event":"pushauth.message","by":"local","user":"al","mechanism":"m","message":"n""#),
    Sample(
      .pushAuthWrongNumber(user: "al", message: "n", transaction: "t"),
      #""event":"pushauth.wrongNumber","by":"local","user":"al","message":"n","transaction":"t""#),
    Sample(
      .pushAuthApproved(user: "al", message: "n", transaction: "t"),
      #""event":"pushauth.approved","by":"local","user":"al","message":"n","transaction":"t""#),
    Sample(
      .pushAuthDenied(user: "al", message: "n", transaction: "t"),
      #""event":"pushauth.denied","by":"local","user":"al","message":"n","transaction":"t""#),
    // UAF
    Sample(
      .uafRequested(session: "s", operation: "Reg", user: "al"),
      #""event":"uaf.requested","by":"local","session":"s","operation":"Reg","user":"al""#),
    Sample(
      .uafTokenAdded(session: "s", operation: "Auth", user: "al", target: "d"),
      #""event":"uaf.tokenAdded","by":"local","session":"s","operation":"Auth","user":"al","target":"d""#),
    Sample(
      .uafTokenRedeemed(session: "s", user: nil), #""event":"uaf.tokenRedeemed","by":"local","session":"s""#),
    Sample(
      .uafRegistered(session: "s", user: "al", keys: "[]"),
      #""event":"uaf.registered","by":"local","session":"s","user":"al","keys":"[]""#),
    Sample(
      .uafRegistrationRefused(session: "s", user: "al", keys: "[]", reason: "too late"),
      #""event":"uaf.refused","by":"local","session":"s","user":"al","keys":"[]","reason":"too late""#),
    Sample(.uafAuthenticated(answer), #""event":"uaf.authenticated","by":"local","# + fromKeys),
    Sample(
      .uafQuarantined(answer, reason: "copied"),
      #""event":"uaf.quarantined","by":"local","# + fromKeys + #","reason":"copied""#),
    Sample(
      .uafAuthenticationRefused(answer, reason: "too late"),
      #""event":"uaf.refused","by":"local","# + fromKeys + #","reason":"too late""#),
    Sample(
      .uafResponseRefused(session: "s", user: nil, status: 1498, asm: 3, reason: "no"),
      #""event":"uaf.refused","by":"local","session":"s","status":"1498","asm":"3","reason":"no""#),
    Sample(
      .uafDeregistrationSent(session: "s", user: "al"),
      #""event":"uaf.deregistrationSent","by":"local","session":"s","user":"al""#),
    Sample(
      .uafDeregistered(session: nil, user: "al", aaid: "5167#1001", key: [1, 2, 3]),
      #""event":"uaf.deregistered","by":"local","user":"al","aaid":"5167#1001","key":"AQID""#),
    Sample(
      .deviceLocked(user: "al", device: "d", reason: "lost"),
      #""event":"device.locked","by":"local","user":"al","device":"d","reason":"lost""#),
    Sample(
      .deviceUnlocked(user: "al", device: "d"),
      #""event":"device.unlocked","by":"local","user":"al","device":"d""#),
    Sample(
      .deviceRevoked(user: "al", device: "d"),
      #""event":"device.revoked","by":"local","user":"al","device":"d""#),
    Sample(
      .uafRevoked(user: "al", aaid: "5167#1001", key: [1, 2, 3]),
      #""event":"uaf.revoked","by":"local","user":"al","aaid":"5167#1001","key":"AQID""#),
    Sample(
      .uafReleased(user: "al", aaid: "5167#1001", key: [1, 2, 3]),
      #""event":"uaf.released","by":"local","user":"al","aaid":"5167#1001","key":"AQID""#),
    Sample(
      .uafTargetAdded(user: "al", target: "d"),
      #""event":"uaf.targetAdded","by":"local","user":"al","target":"d""#),
    Sample(.uafTargetChanged(target: "d"), #""event":"uaf.targetChanged","by":"local","target":"d""#),
    Sample(.uafTargetExpired(target: "d"), #""event":"uaf.targetExpired","by":"local","target":"d""#),
    Sample(.uafTargetRemoved(target: "d"), #""event":"uaf.targetRemoved","by":"local","target":"d""#),
    Sample(
      .uafDeviceRemoved(user: "al", device: "phone"),
      #""event":"uaf.deviceRemoved","by":"local","user":"al","device":"phone""#),
    // Relying parties and the server's keys
    Sample(
      .keyAdded(key: "k", name: "shop"), #""event":"key.added","by":"local","key":"k","name":"shop""#),
    Sample(.keyRevoked(key: "k"), #""event":"key.revoked","by":"local","key":"k""#),
    Sample(
      .clientAdded(client: "l", name: "Shop", .privateKeyJWT, .ping),
      #""event":"client.added","by":"local","client":"l","name":"Shop","authentication":"private_key_jwt","delivery":"ping""#
    ),
    Sample(.clientRevoked(client: "l"), #""event":"client.revoked","by":"local","client":"l""#),
    Sample(
      .clientNotified(client: "l", transaction: "t"),
      #""event":"client.told","by":"local","client":"l","transaction":"t""#),
    Sample(
      .clientNotNotified(client: "l", transaction: "t", reason: "status 500"),
      #""event":"client.notTold","by":"local","client":"l","transaction":"t","reason":"status 500""#),
    Sample(
      .tokensIssued(user: "al", transaction: "t"),
      #""event":"tokens.issued","by":"local","user":"al","transaction":"t""#),
    Sample(
      .signingKeyAdded(key: "k", after: nil), #""event":"signingKey.added","by":"local","key":"k""#),
  ]

  @Test("an event is written with its names and members in order", arguments: samples)
  func json(_ sample: Sample) {
    let record = AuditRecord(sample.event, by: .local, at: 1_700_000_000)
    #expect(record.text(calling: { $0.text }) == #"{"time":1700000000,\#(sample.members)}"#)
  }

  @Test("outbox receivers get the documented events")
  func published() {
    let heard = Self.samples.compactMap { sample in
      sample.event.published.map { event in
        [event.kind.rawValue, event.authenticator?.rawValue, event.subject, event.user].map { $0 ?? "-" }
          .joined(separator: " ")
      }
    }
    #expect(
      heard == [
        "userSuspended - al al", "userResumed - al al", "userDeleted - al al",
        "authenticatorRevoked otp s1 -", "authenticatorBound otp s1 al", "authenticatorSuspended otp s1 -",
        "authenticatorRevoked otp s1 -", "authenticatorBound container c al",
        "authenticatorReplaced container d al", "authenticatorRevoked container c -",
        "authenticatorRevoked container c al", "authenticatorRevoked container c al",
        "authenticatorRevoked container c al", "authenticatorBound push-app m al",
        "authenticatorRevoked push-app m -", "authenticatorBound uaf s al",
        "authenticatorSuspended uaf s al", "authenticatorRevoked uaf s al",
        "authenticatorRevoked uaf 5167#1001/AQID al", "deviceRevoked - d al",
        "authenticatorRevoked uaf 5167#1001/AQID al", "authenticatorResumed uaf 5167#1001/AQID al",
        "authenticatorRevoked uaf phone al",
      ])
  }

  @Test("an actor is written as its kind and its id")
  func actors() {
    let actors: [AuditActor] = [
      .key("1"), .client("2"), .container("3"), .user("4"), .target("5"), .app("6"), .local, .server,
      .conformance, .anyone,
    ]
    #expect(
      actors.map(\.text) == [
        "key:1", "client:2", "container:3", "user:4", "target:5", "app:6", "local", "server", "conformance",
        "anyone",
      ])
  }
}
