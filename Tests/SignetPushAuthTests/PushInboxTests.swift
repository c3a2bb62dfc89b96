import SignetJSON
import SignetPushAuth
import Testing

@Suite("The inbox of a push mechanism")
struct PushInboxTests {
  private let now: Int64 = 1_700_000_000_000

  private func inbox(_ count: Int, kind: PushAuthKind = .default) throws -> PushAuthInbox {
    var inbox = PushAuthInbox()
    for number in 0..<count {
      _ = try inbox.receive(
        PushSamples.received(PushSamples.message("M:\(number)", kind: kind, text: "\(number)")),
        at: now + Int64(number), cleanUp: .none)
    }
    return inbox
  }

  @Test("a message is accepted once; a repeated delivery is the same message") func onceOnly() throws {
    var inbox = PushAuthInbox()
    let message = try PushSamples.received(PushSamples.message())
    guard case .new(let first) = try inbox.receive(message, at: now) else {
      Issue.record("not new")
      return
    }
    #expect(first.state(at: now) == .pending && inbox.pending(at: now) == [first])
    try inbox.took(.approved, of: first.id, at: now + 5)
    guard case .known(let again) = try inbox.receive(message, at: now + 10) else {
      Issue.record("not known")
      return
    }
    #expect(again.decision == .approved && again.responseTime == 5 && inbox.notifications.count == 1)
  }

  @Test("other content under the same id and the same content under another id are replays") func replays()
    throws
  {
    var inbox = PushAuthInbox()
    let message = try PushSamples.received(PushSamples.message(text: "a"))
    _ = try inbox.receive(message, at: now)
    let other = try PushSamples.received(PushSamples.message(text: "b"))
    #expect(throws: PushAuthFailure.replayed) { try inbox.receive(other, at: now) }
    let token = try PushSamples.key().sign(PushSamples.message(text: "a").claims)
    let renamed = try PushAuthDelivery(messageID: "OTHER", token: token).verified(with: PushSamples.key())
    #expect(throws: PushAuthFailure.replayed) { try inbox.receive(renamed, at: now) }
    #expect(inbox.notifications.count == 1)
  }

  @Test("a deleted message is still a replay for 30 days or its lifetime") func forgotten() throws {
    var inbox = PushAuthInbox()
    let message = try PushSamples.received(PushSamples.message())
    _ = try inbox.receive(message, at: now)
    try inbox.took(.denied, of: message.messageID, at: now)
    #expect(inbox.remove(message.messageID) && !inbox.remove(message.messageID))
    var stored = try PushAuthInbox(inbox.json)
    #expect(try stored.receive(message, at: now + PushAuthInbox.shortestMemory) == .forgotten)
    #expect(stored.notifications.isEmpty)
    guard case .new = try stored.receive(message, at: now + PushAuthInbox.shortestMemory + 1) else {
      Issue.record("remembered for ever")
      return
    }
  }

  @Test("pending, approved, denied, expired: the server's time decides") func states() throws {
    var inbox = try inbox(3)
    try inbox.took(.approved, of: "M:0", at: now + 1000)
    try inbox.took(.denied, of: "M:1", at: now + 1000)
    let states = inbox.notifications.map { $0.state(at: now + 120_000) }
    #expect(states == [.approved, .denied, .pending])
    #expect(inbox.notifications[2].state(at: now + 120_001) == .expired)
    #expect(inbox.notifications[2].isPending && inbox.notifications[0].isExpired(at: now + 120_001))
    #expect(inbox.pending(at: now + 120_001).isEmpty && inbox.pending(at: nil).map(\.id) == ["M:2"])
    // Received an hour late: expired on arrival. Without the server's time, ours counts.
    let late = PushAuthNotification(PushSamples.message(), received: now + 3_600_000)
    #expect(late.state(at: now + 3_600_000) == .expired)
    let unsaid = PushAuthNotification(PushSamples.message(created: nil), received: now)
    #expect(unsaid.expires == now + 120_000)
  }

  @Test("an answer must be of the required kind; a denial is always allowed") func answers() throws {
    for kind in PushAuthKind.allCases {
      let inbox = try inbox(1, kind: kind)
      for (answer, fits) in [
        (.approve, kind == .default), (.number("34"), kind == .challenge),
        (.approveRecognised, kind == .biometric), (.deny, true),
      ] as [(PushAuthAnswer, Bool)] {
        if fits {
          #expect(try inbox.answerable("M:0", with: answer, at: now).id == "M:0")
        } else {
          #expect(throws: PushAuthFailure.self) { try inbox.answerable("M:0", with: answer, at: now) }
        }
      }
    }
    let inbox = try inbox(1, kind: .challenge)
    for typed in ["", "  ", "3\n4", String(repeating: "1", count: 33)] {
      #expect(throws: PushAuthFailure.self) { try inbox.answerable("M:0", with: .number(typed), at: now) }
    }
  }

  @Test("a number must be one of the offered ones, if any") func offered() throws {
    var inbox = PushAuthInbox()
    let offered: [Int64] = [7, 34, 56]
    let message = try PushSamples.received(PushSamples.message("M:0", kind: .challenge, numbers: offered))
    _ = try inbox.receive(message, at: now)
    for typed in ["34", " 7 "] {
      #expect(try inbox.answerable("M:0", with: .number(typed), at: now).id == "M:0", "\(typed)")
    }
    for typed in ["35", "3", "346", "07", "034", "+34", "3a", "99999999999999999999"] {
      #expect(throws: PushAuthFailure.numberNotOffered(offered: offered), "\(typed)") {
        try inbox.answerable("M:0", with: .number(typed), at: now)
      }
    }
    #expect(try inbox.answerable("M:0", with: .deny, at: now).id == "M:0")
  }

  @Test("a message without offered numbers accepts 1 to 10 typed digits")
  func noneOffered() throws {
    let message = PushSamples.message("M:0", kind: .challenge, numbers: [])
    for typed in ["0", "34", "034", "1234567890"] { #expect(message.takes(number: typed), "\(typed)") }
    for typed in ["", " 34", "+34", "-3", "3a", "٣٤", "12345678901"] {
      #expect(!message.takes(number: typed), "\(typed)")
    }
    let choice = PushSamples.message("M:0", kind: .challenge, numbers: [7, 34])
    #expect(choice.takes(number: "34") && !choice.takes(number: "35") && !choice.takes(number: "034"))
  }

  @Test("a message ended by the server is not answered, except by the ending answer") func ended() throws {
    var inbox = try inbox(3)
    try inbox.took(.denied, of: "M:1", at: now)
    let hasEnded = inbox.end(["M:0", "M:1", "M:9"], at: now + 1)
    #expect(hasEnded)
    #expect(inbox.notifications.map { $0.state(at: now + 120_001) } == [.ended, .denied, .expired])
    #expect(inbox.pending(at: nil).map(\.id) == ["M:2"])
    let endsAgain = inbox.end(["M:0", "M:1"], at: now + 2)
    #expect(!endsAgain && inbox.notification("M:0")?.ended == now + 1)
    #expect(throws: PushAuthFailure.ended) { try inbox.answerable("M:0", with: .deny, at: now) }
    #expect(try PushAuthInbox(inbox.json) == inbox)
    // The server may list a pending one again; an answered one stays answered.
    var listed = inbox
    let hasReopened = listed.reopen(["M:0", "M:1", "M:9"])
    #expect(hasReopened && listed.pending(at: nil).map(\.id) == ["M:0", "M:2"])
    #expect(listed.notification("M:1")?.decision == .denied)
    let reopensAgain = listed.reopen(["M:0", "M:1"])
    #expect(!reopensAgain)
    // The server may report the end before the answer is recorded.
    try inbox.took(.approved, of: "M:0", at: now + 3)
    #expect(inbox.notification("M:0")?.state(at: now) == .approved)
    #expect(try PushAuthInbox(inbox.json) == inbox)
  }

  @Test("answered, unknown and expired messages have different errors") func refusals() throws {
    var inbox = try inbox(1)
    #expect(throws: PushAuthFailure.noSuchNotification) { try inbox.answerable("M:9", with: .deny, at: now) }
    let late = now + 200_000
    // The server decides, unless the device is configured to; a denial is always sent.
    #expect(try inbox.answerable("M:0", with: .approve, at: late).id == "M:0")
    #expect(throws: PushAuthFailure.expired) {
      try inbox.answerable("M:0", with: .approve, at: late, refusingExpiredBy: 30_000)
    }
    #expect(try inbox.answerable("M:0", with: .approve, at: late, refusingExpiredBy: 90_000).id == "M:0")
    #expect(try inbox.answerable("M:0", with: .deny, at: late, refusingExpiredBy: 30_000).id == "M:0")
    try inbox.took(.denied, of: "M:0", at: now)
    #expect(throws: PushAuthFailure.notPending) { try inbox.answerable("M:0", with: .deny, at: now) }
    #expect(throws: PushAuthFailure.notPending) { try inbox.took(.approved, of: "M:0", at: now) }
    #expect(inbox.notification("M:0")?.decision == .denied)
  }

  @Test("clean-up by count, age, both or never") func cleanUp() throws {
    let day: Int64 = 86_400_000
    var whole = PushAuthInbox()
    for number in 0..<10 {
      _ = try whole.receive(
        PushSamples.received(PushSamples.message("M:\(number)", text: "\(number)")),
        at: now + Int64(number) * day, cleanUp: .none)
    }
    let end = now + 9 * day
    for (mode, left) in [
      (.none, 0..<10), (.count(3), 7..<10), (.count(0), 9..<10), (.count(.max), 0..<10),
      (.age(days: 4), 5..<10),
      (.age(days: 0), 8..<10), (.age(days: .max), 0..<10), (.hybrid(count: 3, days: 4), 7..<10),
      (.hybrid(count: 8, days: 4), 5..<10), (.standard, 0..<10),
    ] as [(PushAuthCleanUp, Range<Int>)] {
      var inbox = whole
      inbox.cleanUp(mode, at: end)
      #expect(inbox.notifications.map(\.id) == left.map { "M:\($0)" }, "\(mode)")
    }
  }

  @Test("a flood of messages is bounded") func flood() throws {
    var inbox = PushAuthInbox()
    for number in 0..<(PushAuthInbox.limit + 50) {
      let message = PushAuthMessage(
        messageID: "M:\(number)", mechanismID: "u", challenge: [1], digest: Array("\(number)".utf8))
      _ = try inbox.receive(message, at: now + Int64(number), cleanUp: .none)
    }
    #expect(inbox.notifications.count == PushAuthInbox.limit && inbox.notifications.first?.id == "M:50")
  }

  @Test("stored messages survive a round trip; damaged ones are refused") func stored() throws {
    var inbox = try inbox(5, kind: .challenge)
    try inbox.took(.approved, of: "M:1", at: now + 1)
    try inbox.took(.denied, of: "M:2", at: now + 2)
    #expect(try PushAuthInbox(inbox.json) == inbox)
    for broken in [[:], ["received": [], "notifications": [[:]]], ["received": [[:]], "notifications": []]]
      as [JSONObject]
    { #expect(throws: PushAuthFailure.self) { try PushAuthInbox(broken) } }
  }

  @Test("times at the integer limits cause no trap") func extremes() throws {
    for created in [Int64(1) << 62, 1] {
      let message = try PushSamples.received(PushSamples.message(created: created))
      for now in [Int64.min, -1, 0, Int64.max] {
        var inbox = PushAuthInbox()
        _ = try inbox.receive(message, at: now, cleanUp: .age(days: Int.max))
        let notification = try #require(inbox.notifications.first)
        #expect(notification.expires >= created)
        for skew in [Int64.min, 0, Int64.max] {
          _ = try? inbox.answerable(message.messageID, with: .approve, at: now, refusingExpiredBy: skew)
        }
        #expect(inbox.remembers(message.messageID, at: now))
      }
    }
  }
}
