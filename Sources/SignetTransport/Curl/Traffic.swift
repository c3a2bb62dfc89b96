/// The transfers under way and the orders that wait for a place, first come, first served.
///
/// Waiting is done here rather than in libcurl, whose own line behind `CURLMOPT_MAX_HOST_CONNECTIONS` may forget whom
/// to wake (seen with 7.88: of fifty requests over four connections, twelve stood until their time was up).
///
/// Confined to the event loop's thread.
struct Traffic {
  /// How many transfers are under way at most.
  let limit: Int
  /// What has no place yet, oldest first.
  var waiting: [TransferOrder] = []
  private var transfers: [UInt64: Transfer] = [:]

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { transfers.isEmpty && waiting.isEmpty }

  /// When the first of those that wait gives up; nil where none does.
  var firstDeadlineOfWaiting: ContinuousClock.Instant? { waiting.compactMap(\.deadline).min() }

  /// Ends what waits too long, and starts what there are places for.
  mutating func start(_ multi: borrowing MultiHandle, _ settings: TransferSettings) {
    guard !waiting.isEmpty else { return }
    let now = ContinuousClock.now
    waiting.removeAll { order in
      guard let deadline = order.deadline, deadline <= now else { return false }
      order.abandon(.timedOut)
      return true
    }
    let next = waiting.prefix(limit - transfers.count)
    waiting.removeFirst(next.count)
    for order in next {
      do throws(TransportFailure) {
        let transfer = try Transfer(order, settings)
        try multi.add(transfer.easy)
        transfers[order.id] = transfer
      } catch {
        order.abandon(error)
      }
    }
  }

  /// Answers those whose transfers libcurl has ended; whether there were any.
  mutating func finish(_ multi: borrowing MultiHandle) -> Bool {
    var hasFinished = false
    while let (context, result) = unsafe multi.nextFinished() {
      guard let context = unsafe context,
        let transfer = unsafe transfers.removeValue(forKey: Transfer.at(context).id)
      else { continue }
      multi.remove(transfer.easy)
      transfer.finish(result)
      hasFinished = true
    }
    return hasFinished
  }

  /// Ends one on its task's wish; nothing where it has ended by itself.
  mutating func cancel(_ id: UInt64, _ multi: borrowing MultiHandle) {
    if let transfer = transfers.removeValue(forKey: id) {
      multi.remove(transfer.easy)
      transfer.abandon(.cancelled)
    } else if let place = waiting.firstIndex(where: { $0.id == id }) {
      waiting.remove(at: place).abandon(.cancelled)
    }
  }

  /// Ends everything.
  mutating func abandon(_ failure: TransportFailure, _ multi: borrowing MultiHandle) {
    for transfer in transfers.values {
      multi.remove(transfer.easy)
      transfer.abandon(failure)
    }
    for order in waiting { order.abandon(failure) }
    (transfers, waiting) = ([:], [])
  }
}
