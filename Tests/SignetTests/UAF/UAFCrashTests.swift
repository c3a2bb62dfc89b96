import Foundation
import Signet
import SignetCrypto
import SignetSQLite
import SignetTestKit
import SignetUAF
import SignetUAFClient
import SignetVault
import Synchronization
import Testing

@Suite("Crashes within UAF operations", .timeLimit(.minutes(10)))
struct UAFCrashTests {
  private let folder: TemporaryFolder
  private let party: UAFParty

  init() throws {
    folder = try TemporaryFolder()
    party = try UAFParty()
  }

  /// The states of the device, as folder names, that a crash before each statement of an operation leaves, and the final state.
  private func pictures(of operation: (UAFDevice) async throws -> Void) async throws -> [String] {
    let isRecording = Mutex(false)
    let names = Mutex<[String]>([])
    let folder = folder
    let take: @Sendable () -> Void = {
      let name = names.withLock { names in
        names.append("crash-\(names.count)")
        return names.last ?? ""
      }
      // By another process: closing a copy in this one would release its own locks.
      let copy = ChildCommand(["/bin/cp", "-rp", folder.file("device"), folder.file(name)])
      do { _ = try copy.finish() } catch { Issue.record(error) }
    }
    let device = try UAFDevice(folder: folder) { (_) throws(SQLiteFailure) in
      if isRecording.withLock({ $0 }) { take() }
    }
    isRecording.withLock { $0 = true }
    try await operation(device)
    isRecording.withLock { $0 = false }
    take()
    return names.withLock { $0 }
  }

  private func opened(_ name: String) throws -> UAFDevice { try UAFDevice(folder: folder, named: name) }

  @Test("a crash during registration leaves the whole key or nothing, and it can be repeated")
  func registration() async throws {
    let first = try await UAFDevice(folder: folder).register(.devicePasscode, with: party)
    let pictures = try await pictures { device in
      let registration = try await device.registration(party.registrationRequest("bob"))
      _ = try await registration.register([
        UAFEnrolment(aaid: try await device.aaid(.pin), authentication: UAFDevice.authentication(.pin))
      ])
    }
    var counts: [Int] = []
    for name in pictures {
      let device = try opened(name)
      let keys = try await device.client.keys()
      #expect(keys.contains(first) && keys.count <= 2)
      counts.append(keys.count)
      // The vault has no domain without a key.
      let id = try #require(try await device.vault.uafContainer())
      let domains = try await device.vault.domains(of: id).map(\.name)
      #expect(Set(domains) == Set(keys.map(\.keyID) + [Vault.uafDomain]))
      let again = try await device.register(.pin, with: try UAFParty(), "bob")
      #expect(try await Set(device.client.keys()) == [first, again])
    }
    #expect(counts.first == 1 && counts.last == 2 && counts == counts.sorted())
  }

  @Test(
    "a signature counter is stored before the signature is returned",
    arguments: [UAFAuthenticator.Kind.pin, .fingerprint, .devicePasscode])
  func authentication(kind: UAFAuthenticator.Kind) async throws {
    let key = try await UAFDevice(folder: folder).register(kind, with: party)
    let sent = Mutex<UInt32>(0)
    let pictures = try await pictures { device in
      let number = try await device.authenticate(key, with: party).signCounter
      sent.withLock { $0 = number }
    }
    #expect(sent.withLock { $0 } == 2)
    var numbers: [UInt32] = []
    for name in pictures {
      let device = try opened(name)
      let response = try await device.authentication(party.authenticationRequest()).authenticate([
        KeyUnlock(key: key, authentication: UAFDevice.authentication(kind))
      ])
      let read = try AuthenticationResponse(parsing: Array(response.message.utf8), versions: [.v1_1])
      numbers.append(
        try AuthenticationAssertion(parsing: try #require(read.assertions.first).bytes).data.signCounter)
      #expect(try await device.client.protectionStatus(of: key) == .unlocked)
    }
    // A process killed before the number was stored has sent nothing; a stored number is not used again.
    #expect(numbers.first == 2 && numbers.last == 3 && numbers == numbers.sorted())
  }
}
