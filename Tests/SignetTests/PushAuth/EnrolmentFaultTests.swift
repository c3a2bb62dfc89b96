import Signet
import SignetCrypto
import SignetHTTPClient
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetPushAuth
import SignetSQLite
import SignetTesting
import SignetTestKit
import SignetVault
import Synchronization
import Testing

/// A disk that becomes full at any statement while a part of an account is stored.
@Suite("Storing accounts on a failing disk", .timeLimit(.minutes(10)))
struct EnrolmentFaultTests {
  /// Fails one statement that could write, by its number.
  private final class Fault: Sendable {
    private let state = Mutex((left: Int?.none, hasFired: false))

    func arm(at number: Int) { state.withLock { $0 = (number, false) } }

    /// Disarms the fault; returns whether it has fired.
    func disarm() -> Bool {
      state.withLock { state in
        defer { state.left = nil }
        return state.hasFired
      }
    }

    func look(at sql: String) throws(SQLiteFailure) {
      guard !["SELECT", "PRAGMA", "ROLLBACK"].contains(where: sql.hasPrefix) else { return }
      let isDue = state.withLock { state in
        guard let left = state.left else { return false }
        state = left == 0 ? (nil, true) : (left - 1, false)
        return left == 0
      }
      if isDue { throw .diskFull(extendedCode: 13) }
    }
  }

  private struct Bench {
    let folder: TemporaryFolder
    let clock = VirtualClock(1_700_000_000)
    let server = PushServerInProcess()
    let fault = Fault()

    init() throws { folder = try TemporaryFolder() }

    func device(failing isFailing: Bool = false) throws -> Device {
      let path = folder.path + "/device"
      let vault = try Vault.forTests(path, clock: VirtualTrustedClock()) { settings in
        guard isFailing else { return }
        settings.willExecute = { [fault] (sql) throws(SQLiteFailure) in try fault.look(at: sql) }
      }
      return Device(
        vault: vault, clock: clock, passwordChecks: PasswordChecks(dictionary: AccountsTests.NoDictionary())
      ) { [server] _ throws(TransportFailure) in server }
    }
  }

  @Test("an enrolment is stored completely or not at all, and can be repeated")
  func enrolment() async throws {
    var failures = 0
    for number in 0..<200 {
      let bench = try Bench()
      let failing = try bench.device(failing: true)
      _ = try await failing.accounts.list()
      let uri = bench.server.uri(.mfauth, policies: ["screenLock": [:]])
      bench.fault.arm(at: number)
      var failure: SignetError?
      do { _ = try await failing.accounts.enrol(uri, from: PushEnrolmentTests.target()) } catch {
        failure = error as? SignetError
      }
      guard bench.fault.disarm() else {
        #expect(failure == nil && failures > 4, "the disk never failed")
        return
      }
      failures += failure == nil ? 0 : 1
      let device = try bench.device()
      for _ in 0..<2 {
        let enrolled = try await device.accounts.enrolled()
        #expect(enrolled.count <= 1, "statement \(number)")
        for account in enrolled {
          #expect(account.codes.count == 1 && account.push != nil, "half of it after statement \(number)")
          for part in account.codes.map(\.id) + (account.push.map { [$0.id] } ?? []) {
            let policies = try await device.accounts.status(of: part).policies
            #expect(policies.names == ["screenLock"], "without its policies after statement \(number)")
          }
        }
        #expect(try await device.accounts.list().count == enrolled.count, "statement \(number)")
        do { _ = try await device.accounts.enrol(uri, from: PushEnrolmentTests.target()) } catch {
          guard case .alreadyEnrolled? = error as? SignetError, enrolled.count == 1 else { throw error }
        }
      }
      #expect(try await device.accounts.enrolled().count == 1, "statement \(number)")
    }
    Issue.record("an enrolment has no end")
  }

  @Test("if a counter cannot be stored no code is given, and no code is given twice")
  func counters() async throws {
    let bench = try Bench()
    let account = try OTPAccount(
      issuer: "A", name: "a", kind: .hotp(counter: 0),
      secret: SharedSecretBox(SecretBytes(copying: AccountsTests.secret)))
    let id = try await bench.device().accounts.add([account]).added[0].id
    let failing = try bench.device(failing: true)
    var (codes, failures) = ([UInt64](), 0)
    for number in 0..<200 {
      bench.fault.arm(at: number)
      do { codes.append(try await failing.accounts.code(of: id).counter) } catch { failures += 1 }
      let hasFired = bench.fault.disarm()
      codes.append(try await bench.device().accounts.code(of: id).counter)
      if !hasFired {
        #expect(failures > 0 && codes == codes.sorted() && Set(codes).count == codes.count)
        // Each failure used up at most one counter value.
        #expect(codes.last.map { $0 < UInt64(codes.count + failures) } == true)
        return
      }
    }
    Issue.record("a code has no end")
  }

  @Test("an answer accepted by the server but not stored stays pending and is not lost")
  func answers() async throws {
    for number in 0..<100 {
      let bench = try Bench()
      _ = try await bench.device().accounts.enrol(
        bench.server.uri(.pushauth), from: PushEnrolmentTests.target())
      _ = try await bench.device().accounts.receive(bench.server.delivery("M:1"))
      let failing = try bench.device(failing: true)
      bench.fault.arm(at: number)
      var hasFailed = false
      do { try await failing.accounts.answer("M:1", .approve) } catch { hasFailed = true }
      let hasFired = bench.fault.disarm()
      let device = try bench.device()
      let message = try #require(await device.accounts.messages().first).notification
      #expect(message.isPending == hasFailed, "statement \(number)")
      if hasFailed { try await device.accounts.answer("M:1", .approve) }
      #expect(try await device.accounts.messages(pendingOnly: true).isEmpty)
      #expect(bench.server.answer(to: "M:1") == "yes")
      if !hasFired { return }
    }
    Issue.record("an answer has no end")
  }
}
