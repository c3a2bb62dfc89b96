import BenchReport
import CLoadClient
import Foundation
import SignetCrypto
import SignetProtocol
import SignetTestKit

extension Bench {
  /// The live channel: devices that wait at one process, each with a signed request on a separate TLS connection.
  ///
  /// Measures the time from the relying party's request to the device's verified list.
  func live(_ report: inout Report) async throws {
    let count = options.isQuick ? 500 : 10_000
    let folder = try workFolder()
    defer { withExtendedLifetime(folder) {} }
    let crowd = try DeviceCrowd(directory: folder.path, count: count)
    let idle = try crowd.serverMemory()
    let joining = Clocks.wall
    try await crowd.joinAll { Benchmarks.progress("  \($0) devices wait") }
    let joined = Double(Clocks.wall - joining) / 1e9
    let waiting = try crowd.serverMemory()
    let (cpu, quiet) = (try crowd.serverCPU(), Clocks.wall)
    try await crowd.answer(for: .seconds(options.isQuick ? 1 : 10))
    let load = Double(try crowd.serverCPU() - cpu) / Double(Clocks.wall - quiet)
    let single = Samples(try await crowd.deliver(options.times(500), atOnce: 1))
    let many = Samples(try await crowd.deliver(options.times(2000), atOnce: 16))
    let memory = try crowd.serverMemory()
    let mebibyte = 1_048_576.0
    let crowdName = "\(count) waiting devices"
    report.add([
      ReportRow(
        name: "\(crowdName): memory of the server", value: Double(memory) / mebibyte, unit: "MiB",
        comparedWith: "before they came \((Double(idle) / mebibyte).formatted()) MiB", goal: .valueBelow(500)),
      ReportRow(
        name: "\(crowdName): memory for each", value: Double(waiting - idle) / Double(count) / 1024,
        unit: "KiB"),
      ReportRow(
        name: "\(crowdName): processor time of the server while they wait", value: load * 100,
        unit: "% of one", notes: "a request of each in 50 s"),
      ReportRow(
        name: "\(crowdName): connecting, listing and waiting", value: Double(count) / joined,
        unit: "devices/s"),
      ReportRow(name: "\(crowdName): delivery to one, p50", value: single.median, unit: "ms"),
      ReportRow(
        name: "\(crowdName): delivery to one, p95", value: single.percentile(95), unit: "ms",
        goal: .valueBelow(50), notes: "of \(single.count)"),
      ReportRow(name: "\(crowdName): delivery to one, p99", value: single.percentile(99), unit: "ms"),
      ReportRow(name: "\(crowdName): delivery, 16 at once, p50", value: many.median, unit: "ms"),
      ReportRow(
        name: "\(crowdName): delivery, 16 at once, p95", value: many.percentile(95), unit: "ms",
        notes: "of \(many.count)"),
    ])
  }
}

/// Devices that wait at a server in another process, and the relying party that makes transactions for them.
@safe private final class DeviceCrowd {
  /// A device with its pending request.
  private struct Device {
    let keys: LiveServer.Keys
    var request: [UInt8] = []
    /// The server's tag of the list that it knows.
    var tag: String?
  }

  /// The devices of one address, within the limit of waiting connections for an address.
  private static let devicesPerAddress = 30
  private static let path = "/main/v1/device/transactions"

  private let server: LineProcess
  private let port: UInt16
  private let apiKey: String
  private let serverKey: P256.Signing.PublicKey
  private let serverURL: ServerURL
  private let crowd: OpaquePointer
  private var devices: [Device] = []
  private let count: Int
  /// The connections of the relying party.
  private var parties: [Int32] = []
  /// The time of sending by device, and the durations.
  private var sent: [Int32: UInt64] = [:]
  private var times: [Double] = []
  private var created = 0
  private var nextDevice = 0

  init(directory: String, count: Int) throws {
    server = try LineProcess(LineProcess.ownPath, [LiveServer.verb, directory, String(count)])
    let parts = try server.readLine().split(separator: " ")
    guard parts.count == 3, let port = UInt16(parts[0]) else {
      throw BenchmarkFailure(description: "the server did not start")
    }
    (self.port, apiKey, self.count) = (port, String(parts[1]), count)
    serverKey = try P256.Signing.PublicKey(x963: Hex.decode(String(parts[2])))
    serverURL = try ServerURL("127.0.0.1:\(port)/main")
    guard let crowd = unsafe crowd_new(port, Int32(count) + 16) else {
      throw BenchmarkFailure(description: "no memory for \(count) connections")
    }
    unsafe self.crowd = unsafe crowd
  }

  deinit { unsafe crowd_close(crowd) }

  /// The server's peak memory so far, in bytes.
  func serverMemory() throws -> Int { Int(try server.ask("memory")) ?? 0 }

  /// The server's processor time in nanoseconds.
  func serverCPU() throws -> UInt64 { UInt64(try server.ask("cpu")) ?? 0 }

  /// Connects all devices; each fetches its list and then waits for another one.
  func joinAll(_ progress: (Int) -> Void) async throws {
    for number in 0..<count {
      let index = try join(address: number / Self.devicesPerAddress + 1)
      guard Int(index) == number else { throw failure("device \(number) is not let in") }
      devices.append(Device(keys: try LiveServer.Keys(number)))
      try await ask(index)
      try await handleAnswers(within: 0)
      if (number + 1).isMultiple(of: 1000) { progress(number + 1) }
    }
    while devices.contains(where: { $0.tag == nil }) { try await handleAnswers(within: 1000) }
    // The last requests reach the server with a short delay.
    try await answer(for: .milliseconds(500))
  }

  /// Handles answers for a duration; a device whose wait has ended asks again.
  func answer(for duration: Duration) async throws {
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end { try await handleAnswers(within: 50) }
  }

  /// Makes transactions, `width` of them in progress at a time, each for another device.
  ///
  /// - Returns: The milliseconds from each request to the device's verified list.
  func deliver(_ total: Int, atOnce width: Int) async throws -> [Double] {
    while parties.count < width { parties.append(try join(address: 0)) }
    var free = Set(parties.prefix(width))
    (times, created) = ([], 0)
    var begun = 0
    while times.count < total {
      while begun < total, sent.count < width, let party = free.popFirst() {
        // Other devices each time, spread over all of them.
        nextDevice = (nextDevice + 7_919) % count
        let body = "{\"user\":\"\(devices[nextDevice].keys.user)\",\"text\":\"Pay 100 EUR to Jane\"}"
        let request =
          "POST /main/v1/transactions HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(apiKey)\r\n"
          + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        sent[Int32(nextDevice)] = Clocks.wall
        try send(request, on: party)
        begun += 1
      }
      for party in try await handleAnswers(within: 10_000) { free.insert(party) }
    }
    return times
  }

  // MARK: Requests and answers

  private func join(address: Int) throws -> Int32 {
    // 127.1.0.1 and so on.
    let index = unsafe crowd_join(crowd, UInt32(0x10001 + address))
    guard index >= 0 else { throw failure("a connection is refused") }
    return index
  }

  private func send(_ request: String, on index: Int32) throws {
    guard unsafe crowd_send(crowd, index, request) == 1 else { throw failure("a connection is closed") }
  }

  /// Sends a signed request for the list, which waits if the device knows a list.
  private func ask(_ index: Int32) async throws {
    let device = devices[Int(index)]
    let proof = RequestProof(
      method: "GET", path: Self.path, body: [], time: Int64(time(nil)), random: SystemRandomSource())
    devices[Int(index)].request = proof.id
    let authorization = try await proof.authorization(container: device.keys.container) {
      message throws(CryptoFailure) in try device.keys.session.signature(for: message)
    }
    let waits = device.tag.map { "If-None-Match: \($0)\r\nPrefer: wait=50\r\n" } ?? ""
    try send(
      "GET \(Self.path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: \(authorization)\r\n\(waits)\r\n",
      on: index)
  }

  /// Handles received answers, and waits for the first.
  ///
  /// - Returns: The relying party's connections that have their answer.
  @discardableResult private func handleAnswers(within milliseconds: Int32) async throws -> [Int32] {
    var (patience, answered) = (milliseconds, [Int32]())
    while true {
      var answer = unsafe crowd_answer()
      let outcome = unsafe crowd_next(crowd, patience, &answer)
      guard outcome >= 0 else { throw failure("an answer failed (crowd.c:\(-outcome))") }
      guard outcome > 0 else {
        guard patience < 1000 else { throw failure("no answer came") }
        return answered
      }
      patience = 0
      let index = unsafe answer.index
      if parties.contains(index) {
        guard unsafe answer.status == 201 else { throw failure("the relying party is refused") }
        answered.append(index)
        continue
      }
      switch unsafe answer.status {
      case 200:
        let body = unsafe String(
          decoding: UnsafeRawBufferPointer(start: answer.body, count: answer.body_size), as: UTF8.self)
        let tag = unsafe String(
          decoding: UnsafeRawBufferPointer(start: answer.tag, count: answer.tag_size), as: UTF8.self)
        try take(body, tag, index)
      case 304: break
      default: throw unsafe failure("a device gets \(answer.status)")
      }
      try await ask(index)
    }
  }

  /// Decrypts and verifies a list, as a device does.
  private func take(_ jwe: String, _ tag: String, _ index: Int32) throws {
    let device = devices[Int(index)]
    let sealed = try SealedTransactionList(decrypting: jwe, with: device.keys.encryption)
    let address = ListAddress(
      server: serverURL, container: device.keys.container, request: device.request)
    let list = try sealed.list(signedBy: serverKey, for: address)
    devices[Int(index)].tag = tag
    guard !list.transactions.isEmpty, let start = sent.removeValue(forKey: index) else { return }
    times.append(Double(Clocks.wall - start) / 1e6)
  }

  private func failure(_ text: String) -> BenchmarkFailure { BenchmarkFailure(description: text) }
}
