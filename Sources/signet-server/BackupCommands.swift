import SignetDataDirectory
import SignetJSON
import SignetServer
import SignetTerminal

/// `signet-server backup` and `restore`.
enum BackupCommands {
  static let backup = Command(
    "backup", "Copy a data folder, while its server runs or not",
    description: """
      The copy is a folder like the data folder, mode 0700, with files of mode 0600: settings, certificates, \
      keys, and the database as it is at one moment. Its database is verified. It is created completely or \
      not at all; a folder that is not empty is refused.

      Anyone with the copy has the server's keys, and with master.key all secrets in the database. With \
      --without-master-key that file is left out: one copy of it, kept elsewhere, is enough. Files outside \
      the data folder that the settings name are not in the copy; this command lists them.
      """,
    options: [
      OperatorOptions.requiredData,
      .flag("without-master-key", "Leave master.key out; restore it from another copy"),
      OperatorOptions.json,
    ],
    arguments: [
      Argument("copy", "The folder to make; the folder above it must exist", completion: .directory)
    ],
    examples: [
      .init(
        "signet-server backup --data /var/lib/signet/bank /var/backups/signet-bank-1",
        "Copy a server's data folder")
    ]
  ) { arguments in
    let folder = try DataDirectory(opening: arguments.string("data"))
    let copy = try folder.backUp(
      to: arguments.string("copy"), withMasterKey: !arguments.isSet("without-master-key"))
    report(copy, as: "Backup", arguments)
    return .success
  }

  static let restore = Command(
    "restore", "Create a data folder from a backup",
    description: """
      The backup stays as it is. Its database is verified, and its master key must be the original one: it \
      is in the backup, or SIGNET_MASTER_KEY_FILE names it. Files of the folder that server.json names must \
      be in the backup. The data folder is created completely or not at all; a folder that is not empty is \
      refused, so that nothing is overwritten: move its files away first.

      Changes after the backup are lost. Requests of the last four minutes, time-based codes of the last 90 seconds, \
      and invites that had not expired could be used again: wait five minutes before you start the server, \
      with clients of OpenID Connect an hour, and create the invites again. Event-based codes that were used after \
      the backup are valid again, until a later code of the same token is used. Containers and keys that were revoked after the backup are active again: \
      revoke them again.
      """,
    options: [OperatorOptions.requiredData, OperatorOptions.json],
    arguments: [Argument("backup", "The folder that 'backup' made", completion: .directory)],
    examples: [
      .init(
        "signet-server restore --data /var/lib/signet/bank /var/backups/signet-bank-1",
        "Restore a server's data folder")
    ]
  ) { arguments in
    let backup: DataDirectory
    do throws(DataDirectoryFailure) {
      backup = try DataDirectory(opening: arguments.string("backup"))
    } catch .folderMissing(let path) {
      throw CommandFailure(
        .noInput, "there is no backup \(path); name the folder that 'signet-server backup' made")
    } catch .noFolder(let path) {
      throw CommandFailure(
        .noInput, "\(path) is not a folder; name the one that 'signet-server backup' made")
    }
    let copy = try backup.restore(to: arguments.string("data"), masterKeyFile: Environment.masterKeyFile)
    report(copy, as: "Folder", arguments)
    if !arguments.isSet("json") {
      if !copy.files.contains("admin.key") {
        let command =
          "signet-server key create operator --scope admin --offline --data \(shellWord(copy.path)) --output \(shellWord("\(copy.path)/admin.key"))"
        arguments.errorOutput.print(
          "The backup has no admin.key; put it into the folder, or make another key: \(command: command)")
      }
      arguments.errorOutput.print(
        "1. Wait five minutes, so that time-based codes and requests of devices from before expire; with clients of OpenID Connect, wait an hour. Then start the server:"
      )
      arguments.errorOutput.print("   \(command: Environment.serving(copy.path))")
      arguments.errorOutput.print(
        "2. Containers and keys that were revoked after the backup are active again: revoke them again.")
      arguments.errorOutput.print(
        "3. Invites that had not expired at the backup can be used again: create them again, which voids the old ones."
      )
      arguments.errorOutput.print(
        "4. Event-based codes that were used after the backup are valid again, until a later code of the same token is used."
      )
    }
    return .success
  }

  private static func report(_ copy: DataDirectoryCopy, as name: String, _ arguments: Arguments) {
    guard !arguments.isSet("json") else {
      return arguments.output.print([
        "folder": .string(copy.path), "files": .array(copy.files.map { .string($0) }),
        "outside": .array(copy.outside.map { .string($0) }),
      ])
    }
    arguments.output.print(fields: [(name, copy.path), ("Files", copy.files.joined(separator: ", "))])
    for path in copy.outside {
      arguments.errorOutput.print("Not in the copy, because it is outside the data folder: \(path)")
    }
  }
}
