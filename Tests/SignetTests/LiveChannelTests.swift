import Signet
import SignetServer
import SignetStorage
import SignetTesting
import SignetWire
import Testing

/// The live channel: a request that is answered when there is something new.
@Suite struct LiveChannelTests {
  @Test("a transaction arrives on a device that listens, and so does its end")
  func arrives() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    let first = try #require(try await device.transactionList(beyond: nil, for: container))
    #expect(first.list.transactions.isEmpty)
    async let waiting = device.transactionList(beyond: first, for: container)
    let id = try await server.createTransaction("Pay 1 EUR", for: container.user)
    let second = try #require(try await waiting)
    #expect(second.list.transactions.map(\.id) == [id])
    // What is known already is not told again; another list is, at once.
    let again = try #require(try await device.transactionList(beyond: first, for: container))
    #expect(again == second)
    async let next = device.transactionList(beyond: second, for: container)
    let request = try #require(second.list.transactions.first)
    try await device.decide(request, .accepted, with: container)
    #expect(try await next?.list.transactions.isEmpty == true)
    await server.stop()
  }

  @Test("a sequence gives the list now and after each change, and ends with its task")
  func sequence() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    let lists = AsyncStream<[TransactionID]>.makeStream()
    let task = Task {
      for try await list in device.liveTransactions(for: container) {
        lists.continuation.yield(list.transactions.map(\.id))
      }
    }
    var seen = lists.stream.makeAsyncIterator()
    #expect(await seen.next() == [])
    var made: [TransactionID] = []
    for number in 1...3 {
      made.append(try await server.createTransaction("Pay \(number) EUR", for: container.user))
      #expect(await Set(seen.next() ?? []) == Set(made))
    }
    task.cancel()
    _ = await task.result
    await server.stop()
  }

  @Test("what does not pass ends the sequence with its failure")
  func ends() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    _ = try await server.context.storage.revokeContainer(
      container.serverMadeID.text, audit: AuditEvent(text: "{}"))
    await #expect(throws: SignetFailure.self) {
      for try await _ in device.liveTransactions(for: container) {}
    }
    await server.stop()
  }

  @Test("a server that stops lets devices go at once")
  func stops() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    let first = try #require(try await device.transactionList(beyond: nil, for: container))
    let waiting = Task { try await device.transactionList(beyond: first, for: container) }
    while await server.waitingDeviceCount == 0 { await Task.yield() }
    await server.stop()
    #expect(try await waiting.value == nil)
  }
}
