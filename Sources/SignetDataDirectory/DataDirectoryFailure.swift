package import SignetCrypto
package import SignetHTTPServer
import SignetServer
package import SignetStorage
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why an operator's data folder could not be created or used.
///
/// After a failed creation, nothing remains at its path.
@nonexhaustive package enum DataDirectoryFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path exists and is not an empty folder.
  case exists(path: String)
  /// The folder does not exist.
  case folderMissing(path: String)
  /// The path is not a folder.
  case noFolder(path: String)
  /// A file of the folder is missing.
  case fileMissing(path: String)
  /// The file or folder that a setting of `server.json` names is missing; the text is the setting's path, such as `tls.key`.
  case fileOfSetting(String, path: String)
  /// The path has another type than folder or plain file.
  case wrongKind(path: String)
  /// Another user owns the folder or the file.
  case ownedByAnother(path: String, owner: UInt32, user: UInt32)
  /// Other users can read or change it; `mode` has the permission bits.
  case openToOthers(path: String, mode: UInt32)
  /// The file exceeds the size limit.
  case tooLarge(path: String)
  /// The file that a setting names exceeds the size limit, for example a system's list of all authorities.
  case largeFileOfSetting(String, path: String)
  /// The system refused to read.
  case unreadable(path: String, errno: Int32)
  /// The system refused to write.
  case unwritable(path: String, errno: Int32)
  /// A member of the settings is missing, unknown or invalid.
  case settings(path: String, reason: String)
  /// A newer version wrote the settings.
  case settingsTooNew(path: String, found: Int64, known: Int64)
  /// The file with the master key is missing.
  case masterKeyMissing(path: String)
  /// The master key is not 32 bytes long.
  case masterKeyLength(path: String)
  /// The master key is not the folder's.
  case wrongMasterKey(path: String)
  /// The file does not contain an API key.
  case notAnAPIKey(path: String)
  /// The file is not UTF-8 text.
  case notText(path: String)
  /// The full path of a file or folder is not UTF-8 text.
  case pathNotText(path: String)
  /// A name is neither a DNS name nor an IP address, or the certificate could not be created.
  case certificate(CryptoFailure)
  /// The certificate of the server or its authority cannot be read.
  case certificateUnreadable(path: String, CryptoFailure)
  /// The certificate was not created by this server, so it cannot be renewed here.
  case certificateOfOthers(path: String)
  /// The server's certificate or its key was refused.
  case identityRefused(certificate: String, key: String, ServerFailure)
  /// The database cannot be used.
  case storage(StorageFailure)
  /// Another process serves the folder, and the two share no handshake keys.
  case servedElsewhere(path: String)
  /// The folder for secrets that must be forgotten is not in memory, but on a disk.
  case notInMemory(path: String)
  /// The copy of a folder would be inside that folder.
  case insideItself(path: String)
  /// The database is empty and has no tables.
  case databaseEmpty(path: String)
  /// The data are in PostgreSQL, which has its own tools for copies.
  case databaseOnServer(path: String)
  /// The operator's key could not be stored.
  case adminKey(reason: String)

  /// The cause and the remedy; never the content of a file.
  package var description: String {
    switch self {
    case .exists(let path): "\(path) is not empty; name a folder that does not exist yet"
    case .folderMissing(let path): "there is no folder \(path); make one with 'signet-server init'"
    case .noFolder(let path): "\(path) is not a folder; name a server's data folder"
    case .fileMissing(let path):
      "\(path) is missing; name a server's data folder, or restore the file from a backup"
    case .fileOfSetting(let setting, let path):
      "\(path) is missing, which \"\(setting)\" of server.json names; put it there, or correct the setting"
    case .wrongKind(let path): "\(path) is of the wrong kind: a plain file or folder is needed, not a link"
    case .ownedByAnother(let path, let owner, let user):
      "\(path) belongs to user \(owner), and this is user \(user); run this as its owner"
    case .openToOthers(let path, let mode):
      "other users have access to \(path) (mode \(String(mode, radix: 8))); remove their access (chmod go=), "
        + "check its content, and replace secrets that others may have read"
    case .tooLarge(let path): "\(path) is too large for what it should hold; restore it from a backup"
    case .largeFileOfSetting(let setting, let path):
      "\(path) has more than \(FolderFile.maximumByteCount / 1024) KiB; set \"\(setting)\" in server.json to "
        + "a smaller file: for authorities, one with only those that are needed"
    case .unreadable(let path, let error): "\(path) can't be read: \(Self.message(error))"
    case .unwritable(let path, let error): "\(path) can't be written: \(Self.message(error))"
    case .settings(let path, let reason): "\(path): \(reason)"
    case .settingsTooNew(let path, let found, let known):
      "\(path) has format \(found), this build supports up to \(known): use a newer signet-server"
    case .masterKeyMissing(let path):
      "\(path) is missing; name the file with the master key in SIGNET_MASTER_KEY_FILE, or restore it from a backup"
    case .masterKeyLength(let path):
      "\(path) is not a master key: it must contain exactly \(MasterKey.byteCount) bytes; restore it from a backup"
    case .wrongMasterKey(let path):
      "\(path) is not the master key that this folder was created with; use that one: without it no secret in "
        + "the database can be decrypted. If \"masterKeyCheck\" in server.json was changed, restore that"
    case .notAnAPIKey(let path): "\(path) contains no API key; create one with 'signet-server key create'"
    case .notText(let path): "\(path) is not UTF-8 text; restore it from a backup"
    case .pathNotText(let path):
      "the full path of \(path) is not UTF-8 text; rename the folders in it, or use another place"
    case .certificate(let failure): failure.description
    case .certificateUnreadable(let path, let failure): "\(path): \(failure.description)"
    case .certificateOfOthers(let path):
      "\"tls\" in \(path) names certificates that were not issued here; renew them at their issuer"
    case .identityRefused(let certificate, let key, let failure):
      "\(certificate), \(key): \(failure.description)"
    case .storage(let failure): failure.description
    case .servedElsewhere(let path):
      "another process serves \(path); end it, or set \"runtime\" in \(path)/server.json, so that several can"
    case .notInMemory(let path):
      "\(path) is not in memory (tmpfs), and handshake keys must not be written to a disk; name a folder "
        + "below /run as \"runtime\" in server.json"
    case .insideItself(let path): "\(path) is in the folder that is copied; name a folder elsewhere"
    case .databaseEmpty(let path):
      "\(path) is empty, so the server's data are lost; restore a backup (signet-server restore), "
        + "or make a new server in another folder (signet-server init)"
    case .databaseOnServer(let path):
      "the data of \(path) are in PostgreSQL: copy them with pg_dump, and the folder as it is"
    case .adminKey(let reason): "the operator's key could not be stored: \(reason)"
    }
  }

  private static func message(_ error: Int32) -> String {
    let text = systemMessage(error)
    return error == ENOSPC || error == EDQUOT ? "\(text); make room and try again" : text
  }

  /// Converts failures to read a file or folder; this is the only place that does.
  init(reading path: String, _ failure: FileFailure) {
    self =
      switch failure {
      case .missing: .fileMissing(path: path)
      case .wrongKind, .system("open", ELOOP): .wrongKind(path: path)
      case .ownedByAnother(let owner): .ownedByAnother(path: path, owner: owner, user: geteuid())
      case .openToOthers(let mode): .openToOthers(path: path, mode: mode)
      case .tooLarge: .tooLarge(path: path)
      case .tooShort, .system: .unreadable(path: path, errno: failure.code)
      }
  }
}
