import SignetServer
import SignetTerminal

enum ServerProgram {
  static let program = Program(
    "signet-server", "Run and manage a Signet server", version: Server.version, date: "2026-11-21",
    description: """
      A Signet server provisions devices, checks one-time passwords, and collects users' signed decisions on \
      transactions.

      'init' makes a data folder with everything that a server needs, and 'serve' runs it. The other commands \
      are clients of a running server: with --data they speak to the server of that folder with its operator's \
      key; from elsewhere they need --server, --ca and --key-file. API keys are read from files, never from \
      the command line.

      Commands print text for people, or with --json one JSON document. Times are in UTC.

      On a terminal, text from others, such as the name of a device, is printed behind a bar (|), so that it cannot pass for output \
      of signet-server. Marks replace what a terminal would hide in it: "~ 61 empty lines" stands for so many empty lines; a box \
      with a code in braces, and a count, for unusual blanks; a code such as \\u{202E} for a character that is invisible or \
      changes the direction of text. In a list, columns that do not fit are printed below their row.
      """,
    commands: [
      InitCommand.command, ServeCommand.command, SettingsCommand.command, BackupCommands.backup,
      BackupCommands.restore,
      CertificateCommands.group, UserCommands.group,
      ActivationCommands.group,
      DeviceCommands.group, ContainerCommands.group, KeyCommands.group, ClientCommands.group,
      SigningKeyCommands.group,
      TransactionCommands.group, AppCommands.group, MessageCommands.group, CodeCommands.group,
      TokenCommands.group, UAFCommands.group,
      AuditCommands.group,
    ],
    exitCodes: [
      .init(.success, "All went well; for 'otp validate' the code is valid"),
      .init(
        .failure,
        "The answer is no: an invalid code, a broken audit log, a denied transaction or message, a decision that does not hold, a user who cannot be asked"
      ),
      .init(.usage, "The command line is wrong"),
      .init(.dataError, "The server refused what was sent"),
      .init(.noInput, "A file is missing or unreadable"),
      .init(
        .noUser,
        "There is no such user, device, container, key, client, transaction, authenticator or message"),
      .init(.unavailable, "The server can't be reached or broke off, or its address or port can't be used"),
      .init(.software, "Something failed that should not have"),
      .init(.cannotCreate, "It exists already, or can't be made"),
      .init(
        .inputOutput,
        "The database is damaged, or reading or writing failed; where that is the output, the message says that what was asked for was done"
      ),
      .init(
        .temporaryFailure,
        "The server is busy or too slow, or failed and changed nothing, or nothing was decided in time; try again"
      ),
      .init(.protocolError, "What answered is no Signet server, or not the trusted one"),
      .init(
        .permissionDenied,
        "The API key is not accepted, the password of a file is wrong, or a file is open to others"),
      .init(.configuration, "The data folder is damaged or has wrong settings"),
      .init(.interrupted, "Stopped while it waited for the server"),
    ],
    environment: [
      .init("SIGNET_SERVER", "The server, HOST[:PORT]/DOMAIN, where neither --data nor --server is given"),
      .init("SIGNET_CA_FILE", "Where neither --data nor --ca is given: certificates to trust, PEM"),
      .init(
        "SIGNET_API_KEY_FILE",
        "A file with the API key, where --key-file is not given; with --data only for a relying party's commands"
      ),
      .init(
        "SIGNET_MASTER_KEY_FILE",
        "For init, serve and restore: a file with the 32 bytes of the master key, instead of master.key in the data folder"
      ),
      .init("NO_COLOR", "If not empty, no colour is used"),
    ],
    files: [
      .init(
        "DIR/server.json",
        "The server's settings, read by serve; signet-server.json(5) has every member"),
      .init("DIR/ca.pem", "The certificate authority that devices and relying parties trust"),
      .init("DIR/tls.pem, DIR/tls.key", "The server's certificate and its key"),
      .init("DIR/master.key", "The key of secrets in the database; keep a copy apart from the database's"),
      .init("DIR/admin.key", "The operator's API key"),
      .init("DIR/signet.sqlite", "The database"),
    ],
    examples: [
      .init(
        "signet-server init --data /var/lib/signet/bank --url id.example.org/bank",
        "Make the data folder of a server"),
      .init("signet-server serve --data /var/lib/signet/bank", "Run it"),
      .init("signet-server user add alice --data /var/lib/signet/bank", "Add a user"),
      .init(
        "signet-server activation create alice --data /var/lib/signet/bank --png alice.png",
        "Invite the user to activate a device"),
    ],
    seeAlso: ["signet(1)", "signet-server.json(5)"],
    classify: ExitCodes.code)
}
