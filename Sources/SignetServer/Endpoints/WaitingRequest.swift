import SignetHTTPServer
import SignetProtocol
import SignetStorage

/// A device's request that waits until its list of waiting items changes.
///
/// Between two reads it has no task: for ten thousand waiting devices, tasks would be a fifth of the memory.
final class WaitingRequest: Sendable {
  /// The longest wait of a request, in seconds; HTTP allows a handler more time.
  static let longestWait: Int64 = 50

  private let watch: TransactionWatch
  private let holder: String
  private let user: UserID
  private let deadline: Duration
  private let responder: Responder
  private let news: @Sendable () async -> ServerResponse?
  private let nothingNew: @Sendable () async -> ServerResponse

  /// Creates a waiting request.
  ///
  /// - Parameters:
  ///   - holder: The container, app or UAF target that waits.
  ///   - user: The user whose changes count.
  ///   - watch: The watch that wakes it.
  ///   - deadline: The end of the wait, by the context's ``ServiceContext/elapsed``.
  ///   - responder: Sends the answer.
  ///   - news: Returns the answer that ends the wait; `nil` while the list is the one that the device knows.
  ///   - nothingNew: Returns the answer if the list is still the same at the end.
  init(
    of holder: String, for user: UserID, in watch: TransactionWatch, until deadline: Duration,
    _ responder: Responder, news: @escaping @Sendable () async -> ServerResponse?,
    nothingNew: @escaping @Sendable () async -> ServerResponse
  ) {
    self.watch = watch
    self.holder = holder
    self.user = user
    self.deadline = deadline
    self.responder = responder
    self.news = news
    self.nothingNew = nothingNew
  }

  /// Gets a place and waits.
  ///
  /// If no place is free, it answers at once, and the device waits before it asks again.
  ///
  /// It reads the list again after it got the place, since an earlier change would not wake it.
  func begin(from address: String) async {
    guard let ticket = await watch.enter(for: user, container: holder, from: address) else {
      return await answer()
    }
    // A closed connection frees its place.
    responder.whenCancelled { [watch] in Task { await watch.leave(ticket) } }
    await answerOrWait(ticket)
  }

  /// Answers if the list has changed; waits otherwise.
  private func answerOrWait(_ ticket: TransactionWatch.Ticket) async {
    if let news = await news() {
      await watch.leave(ticket)
      return responder.answer(news)
    }
    await watch.wait(with: ticket, until: deadline) { hasChanged in
      Task { hasChanged ? await self.answerOrWait(ticket) : await self.leave(ticket) }
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
  /// The seconds of `Prefer: wait` (RFC 7240 section 4.3), at most the longest wait; `nil` if it is missing.
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
