import Foundation
import LibFuzzer
import SignetCrypto
import SignetPolicy

// The parsers are not public: only the vault reads its rows.
@testable import SignetVault

@main struct FuzzVault {
  private static let folder = FileManager.default.temporaryDirectory.path + "/signet-fuzz-vault-\(getpid())"
  private static let weak = Argon2id(memoryKiB: 8, passes: 1, lanes: 1)
  private static let template = makeTemplate()

  static func main() {
    atexit { do { try FileManager.default.removeItem(atPath: FuzzVault.folder) } catch {} }
    LibFuzzer.run(preparing: { _ = template }, check)
  }

  /// An input that begins like a header is parsed as one; any other is a list of changes to a vault's file.
  static func check(_ input: [UInt8]) {
    if input.starts(with: Array("SGSH".utf8)) { return checkHeader(input) }
    if input.first == 1 { checkHistory(input) }
    if input.first == 2 { checkCode(input) }
    if input.first == 3 { checkFile(Array(input.dropFirst())) }
  }

  private static func checkHeader(_ input: [UInt8]) {
    let header: SlotHeader
    do throws(SlotHeader.Refusal) {
      header = try SlotHeader(parsing: input, floor: .minimum)
    } catch {
      return
    }
    require(header.bytes == input, "a header has one form")
    if case .password(let cost, let lock) = header.opening {
      require(PasswordCost.accepts(cost, floor: .minimum), "no cost is too low or too high")
      require(
        accepted { () throws(PolicyFailure) in try lock.validate() } != nil, "a lock policy can be kept")
    }
    require(DomainID.isName(header.domainID.domain), "a domain's name is one")
  }

  private static func checkHistory(_ input: [UInt8]) {
    guard let history = PasswordHistory(input, floor: .minimum) else { return }
    require(history.bytes == input, "a history has one form")
    require(history.digests.allSatisfy { $0.count == 32 }, "a digest has 32 bytes")
  }

  private static func checkCode(_ input: [UInt8]) {
    do {
      let text = try RecoveryCode(String(decoding: input.dropFirst(), as: UTF8.self)).text
      let again = try RecoveryCode(text).text
      require(again == text, "a code has one form")
    } catch {}  // no code: the throw is typed
  }

  /// Changes bytes of a vault's file, which then opens unchanged or fails with a specific error.
  ///
  /// - Parameter changes: Three bytes for each change: the position, in two, and the value.
  private static func checkFile(_ changes: [UInt8]) {
    var file = template.file
    for index in stride(from: 0, to: changes.count - 2, by: 3) {
      file[(Int(changes[index]) << 8 | Int(changes[index + 1])) % file.count] ^= changes[index + 2]
    }
    do {
      for suffix in ["-wal", "-shm"] {
        let path = "\(folder)/vault.sqlite\(suffix)"
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
      }
      try Data(file).write(to: URL(fileURLWithPath: "\(folder)/vault.sqlite"))
      chmod("\(folder)/vault.sqlite", 0o600)
    } catch { preconditionFailure("the folder for fuzzing: \(error)") }
    let read = waiting { () -> String? in
      do {
        let vault = try open()
        let domain = try await vault.open(
          "keys", of: template.id, with: .password(SecretBytes(copying: Array("1".utf8))))
        return try domain.withRecord("key") { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
      } catch is VaultFailure { return nil } catch { return "another failure: \(error)" }
    }
    require(read == nil || read == "a key", "a changed file opens as it was, or not at all")
  }

  private static func open() throws -> Vault {
    var settings = Vault.Settings(cost: .fixed(weak))
    settings.insecureCostFloor = weak
    return try Vault(directory: folder, keystore: SoftwareKeystore(directory: folder), settings: settings)
  }

  private static func makeTemplate() -> (file: [UInt8], id: LocalContainerID) {
    let made = waiting { () -> LocalContainerID in
      do {
        let vault = try open()
        let key = RecordDraft(
          name: "key", secret: SharedSecretBox(SecretBytes(copying: Array("a key".utf8))))
        let domain = DomainDraft(
          name: "keys", protection: .password(SharedSecretBox(SecretBytes(copying: Array("1".utf8))), .none),
          records: [key])
        let attributes = ContainerAttributes(userID: "u", server: "s/d", name: "", serverID: "")
        let id = try await vault.addContainer(
          ContainerDraft(attributes: attributes, created: 0, domains: [domain]))
        try await vault.confirmContainer(id)
        return id
      } catch { preconditionFailure("the vault for fuzzing: \(error)") }
    }
    guard let file = FileManager.default.contents(atPath: "\(folder)/vault.sqlite") else {
      preconditionFailure("the vault for fuzzing has no file")
    }
    return (Array(file), made)
  }
}
