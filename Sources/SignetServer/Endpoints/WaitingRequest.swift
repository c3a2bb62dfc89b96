import SignetHTTP
import SignetStorage
import SignetWire

/// A device's request that waits until its list of what waits is another one.
///
/// Between two looks there is no task, only this: of ten thousand devices that wait, a task each would be a fifth of the
/// memory.
final class WaitingRequest: Sendable {
  /// The most seconds that a request waits: less than HTTP lets a handler take.
  static let longestWait: Int64 = 50

  private let watch: TransactionWatch
  private let holder: String
  private let user: UserID
  private let deadline: Duration
  private let responder: Responder
  private let news: @Sendable () async -> ServerResponse?
  private let nothingNew: @Sendable () async -> ServerResponse

  /// Describes a request.
  ///
  /// - Parameters:
  ///   - holder: Whose it is: a container, or a UAF target.
  ///   - user: Whose changes count.
  ///   - watch: Where it waits.
  ///   - deadline: Until when, by the context's ``ServiceContext/elapsed``.
  ///   - responder: Takes the answer.
  ///   - news: The answer that ends the waiting; `nil` while the list is the one that the device knows.
  ///   - nothingNew: The answer where it still is at the end.
  init(
    of holder: String, for user: UserID, in watch: TransactionWatch, until deadline: Duration,
    _ responder: Responder, news: @escaping @Sendable () async -> ServerResponse?,
    nothingNew: @escaping @Sendable () async -> ServerResponse
  ) {
    (self.watch, self.holder, self.user) = (watch, holder, user)
    (self.deadline, self.responder) = (deadline, responder)
    (self.news, self.nothingNew) = (news, nothingNew)
  }

  /// Takes a place and waits; where no place is left the answer comes at once, and the device waits by itself.
  ///
  /// It looks once more when it has the place: what came before that would wake nobody.
  func begin(from address: String) async {
    guard let ticket = await watch.enter(for: user, container: holder, from: address) else {
      return await answer()
    }
    // Who is gone leaves its place to others.
    responder.whenCancelled { [watch] in Task { await watch.leave(ticket) } }
    await look(ticket)
  }

  /// Answers where there is news; waits where there is none.
  private func look(_ ticket: TransactionWatch.Ticket) async {
    if let news = await news() {
      await watch.leave(ticket)
      return responder.answer(news)
    }
    await watch.wait(with: ticket, until: deadline) { hasChanged in
      Task { hasChanged ? await self.look(ticket) : await self.leave(ticket) }
    }
  }

  private func leave(_ ticket: TransactionWatch.Ticket) async {
    await watch.leave(ticket)
    await answer()
  }

  private func answer() async {
    if let news = await news() { return responder.answer(news) }
    responder.answer(await nothingNew())
  }
}

extension ServerRequest {
  /// The seconds of `Prefer: wait` (RFC 7240 section 4.3), as many as a request may wait; `nil` where there is none.
  var preferredWait: Int64? {
    for field in headers.values(for: "Prefer") where field.utf8.count <= 256 {
      for preference in field.split(separator: ",") {
        let parts = (preference.split(separator: ";").first ?? "").split(separator: "=", maxSplits: 1).map {
          $0.trimmingPrefix { $0 == " " }
        }
        guard parts.count == 2, parts[0].utf8.elementsEqual("wait".utf8) else { continue }
        let digits = parts[1].prefix { ("0"..."9").contains($0) }
        if let seconds = Int64(digits), seconds > 0 { return min(seconds, WaitingRequest.longestWait) }
      }
    }
    return nil
  }
}
