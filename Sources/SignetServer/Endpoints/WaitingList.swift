import SignetHTTP
import SignetStorage
import SignetWire

/// A device's request that waits until its list of transactions is another one.
///
/// Between two looks there is no task, only this: of ten thousand devices that wait, a task each would be a fifth of the
/// memory.
final class WaitingList: Sendable {
  private let device: DeviceEndpoints
  private let container: String
  private let user: String
  /// The id of the request, to which the answer is bound.
  private let request: [UInt8]
  /// The list that the device knows.
  private let known: String
  private let deadline: ContinuousClock.Instant
  private let responder: Responder

  /// Describes a request of a container, which knows a list by its tag and waits until a deadline.
  init(
    _ device: DeviceEndpoints, _ container: ContainerRecord, request: [UInt8], known: String,
    until deadline: ContinuousClock.Instant, _ responder: Responder
  ) {
    (self.device, self.container, self.user) = (device, container.id, container.user)
    (self.request, self.known, self.deadline, self.responder) = (request, known, deadline, responder)
  }

  /// Takes a place and waits; where no place is left the answer comes at once, and the device waits by itself.
  func begin(from address: String) async {
    let place = await device.watch.enter(for: user, container: container, from: address)
    guard let ticket = place else { return await answer() }
    // Who is gone leaves its place to others.
    responder.whenCancelled { [watch = device.watch] in Task { await watch.leave(ticket) } }
    await look(ticket)
  }

  /// Answers where the list is another one; waits where it is not.
  private func look(_ ticket: TransactionWatch.Ticket) async {
    do throws(Problem) {
      guard try await device.current(container).tag == known else { return await leave(ticket) }
    } catch { return await leave(ticket) }
    await device.watch.wait(with: ticket, until: deadline) { hasChanged in
      Task { hasChanged ? await self.look(ticket) : await self.leave(ticket) }
    }
  }

  private func leave(_ ticket: TransactionWatch.Ticket) async {
    await device.watch.leave(ticket)
    await answer()
  }

  /// Answers with what there is now, or that it is what the device knows.
  private func answer() async {
    responder.answer(await device.list(of: container, request: request, beyond: known))
  }
}
