import Foundation
import SignetCrypto
import SignetVault

// A program for tests to kill: it repeatedly opens a domain of a vault with its password.
//
//   VaultVictim FOLDER CONTAINER DOMAIN PASSWORD LOG COUNT
//
// Each time it appends a byte to LOG, as other processes do, and ends with status 0 when LOG has COUNT bytes. If the password is
// rejected, it prints the reason on standard error and ends with status 1.

let words = CommandLine.arguments
guard words.count == 7, let identifier = LocalContainerID(words[2]), let count = Int(words[6]) else {
  exit(64)
}
let log = open(words[5], O_WRONLY | O_APPEND)
guard log >= 0 else { exit(66) }

var settings = Vault.Settings(createIfMissing: false)
// The cost of the slots, and no better one: the minimum that a test may have.
settings.insecureCostFloor = Argon2id(memoryKiB: 8, passes: 1, lanes: 1)
settings.cost = .fixed(settings.insecureCostFloor)
do {
  let vault = try Vault(
    directory: words[1], keystore: SoftwareKeystore(directory: words[1]), settings: settings)
  while lseek(log, 0, SEEK_END) < count {
    _ = try await vault.open(
      words[3], of: identifier, with: .password(SecretBytes(copying: Array(words[4].utf8))))
    guard write(log, "x", 1) == 1 else { exit(74) }
  }
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
