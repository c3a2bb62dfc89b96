/// The running transfers and the waiting orders, first in, first out.
///
/// Orders wait here and not in libcurl: its queue behind `CURLMOPT_MAX_HOST_CONNECTIONS` may forget to wake a transfer. With
/// 7.88, of fifty requests over four connections, twelve waited until their time-out.
///
/// Used only on the event loop's thread.
struct Traffic {
  let limit: Int
  /// The orders that wait for a place, oldest first.
  var waiting: [TransferOrder] = []
  private var transfers: [UInt64: Transfer] = [:]

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { transfers.isEmpty && waiting.isEmpty }

  /// The earliest deadline of a waiting order; nil if none has a deadline.
  var firstDeadlineOfWaiting: ContinuousClock.Instant? { waiting.compactMap(\.deadline).min() }

  /// Fails orders whose deadline has passed, and starts others while places are free.
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

  /// Answers the orders whose transfers have ended; returns true if there were any.
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

  /// Cancels a transfer or a waiting order; does nothing if it has ended.
  mutating func cancel(_ id: UInt64, _ multi: borrowing MultiHandle) {
    if let transfer = transfers.removeValue(forKey: id) {
      multi.remove(transfer.easy)
      transfer.abandon(.cancelled)
    } else if let index = waiting.firstIndex(where: { $0.id == id }) {
      waiting.remove(at: index).abandon(.cancelled)
    }
  }

  mutating func abandon(_ failure: TransportFailure, _ multi: borrowing MultiHandle) {
    for transfer in transfers.values {
      multi.remove(transfer.easy)
      transfer.abandon(failure)
    }
    for order in waiting { order.abandon(failure) }
    (transfers, waiting) = ([:], [])
  }
}
