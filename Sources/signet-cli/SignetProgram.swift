import Signet
import SignetAgent
import SignetImages
import SignetIntegrity
import SignetTerminal

/// The `signet` command, as data; help, manual and completion are generated from it.
let signetProgram = Program(
  "signet", "Authenticate and approve transactions from this device", version: "0.1.0", date: "2026-11-21",
  description: """
    signet stores keys on this device, protected by a password if the server requires one. It makes one-time passwords \
    and signs decisions about transactions.

    A server's operator hands out an activation code, usually as a QR code. signet activate turns it into a container: \
    one user at one server. Each code can be used once.

    On a terminal, text from others, such as a request, is printed behind a bar (|), so that it cannot pass for output \
    of signet. Marks replace what a terminal would hide in it: "~ 61 empty lines" stands for so many empty lines; a box \
    with a code in braces, and a count, for unusual blanks; a code such as \\u{202E} for a character that is invisible or \
    changes the direction of text. In a list, columns that do not fit are printed below their row.
    """,
  options: DeviceOptions.all,
  commands: [
    guarded(.activate), untouched(.list), untouched(.rename), untouched(.trust), guarded(.otp),
    untouched(.pending), untouched(.listen), guarded(.approve), untouched(.deny), untouched(.report),
    untouched(.cancel), guarded(.initiate), guarded(.password), guarded(.biometrics), guarded(.passcode),
    guarded(.recovery), guarded(.renew), untouched(.delete), untouched(.reset), untouched(.policy),
    // 'condition report' is allowed under tampering: it is how the server learns of it.
    Command.condition.preceded(except: ["show", "report", "lock"], by: ProgramIntegrity.admit)
      .preceded(only: ["show", "lock"], by: ProgramIntegrity.admitOwnCode),
    guarded(.data), guarded(.importing),
    guarded(.scan), guarded(.export), guarded(.account, except: ["list", "delete", "clear", "lock"]),
    guarded(.message, except: ["list", "deny", "delete"]),
    guarded(.uaf, except: ["metadata", "deregister", "delete", "list", "pending", "device"]), .doctor,
  ] + agentCommands,
  exitCodes: [
    .init(.success, "Success"),
    .init(
      .failure,
      "A question was answered with no, no request waits, the session is locked, the queried feature is not "
        + "enabled, the doctor has found something to do, or the transaction has expired, was cancelled or withdrawn, or is already decided"
    ),
    .init(.usage, "The command line is wrong"),
    .init(.dataError, "What was scanned, typed or chosen is not allowed: an activation code, a new password"),
    .init(.noInput, "A file that was named cannot be read"),
    .init(
      .unavailable,
      "The server could not be reached or broke off, the fingerprint reader or the passcode's check does not work, or a reset "
        + "has left notices to servers"
    ),
    .init(.software, "An unexpected failure; stored data is unchanged"),
    .init(.cannotCreate, "The data folder cannot be used"),
    .init(.inputOutput, "The disk is full, or reading or writing failed"),
    .init(.temporaryFailure, "A resource is busy, too slow, failed or in lockout; try again later"),
    .init(.protocolError, "The server broke the protocol, refused, or is not one that is trusted"),
    .init(
      .permissionDenied,
      "The password of a container, an account or a file is wrong or locked out, the finger or the passcode was not accepted, the "
        + "container, the account, the device or the user is locked (by a policy, by hand or by the server), a UAF server accepts "
        + "neither a token nor the key, or the program is being tampered with"
    ),
    .init(.configuration, "There is no container yet: activate this device first; list ends with 0"),
    .init(.interrupted, "Stopped at the terminal"),
  ],
  environment: [
    .init("SIGNET_DATA", "The data folder, where --data is not given"),
    .init(
      "SIGNET_TPM",
      "The TPM for a new vault: device:PATH, swtpm:host=ADDRESS,port=N or swtpm:path=SOCKET; none for a file. "
        + "Unset: /dev/tpmrm0 where this user may use it"),
    .init(
      "SIGNET_PASSWORD_TIME",
      "Approximate time of one attempt at a password that is set from now on, in milliseconds, 1 to 10000; at least 19 MiB of memory and "
        + "2 passes of Argon2id. Unset: 250"),
    .init("SIGNET_CA_FILE", "What --ca names, where that is not given"),
    .init("SIGNET_UAF_SERVER", "The base URL of the UAF server, where --uaf-server is not given"),
    .init(
      "XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_RUNTIME_DIR",
      "Where the data folder, the agent's groups and its socket are, where nothing else is said"),
    .init("HOME", "Where ~/.local/share and ~/.config are, which stand for an XDG variable that is not set"),
    .init(
      "LC_ALL, LC_MESSAGES, LANG",
      "The language of the words around a transaction: de, en, es or fr; what is signed does not depend on it"
    ),
    .init(
      "SIGNET_INTEGRITY",
      "The reaction to tampering with this program: report, refuse, lock, wipe-session or terminate; never milder than the "
        + "built-in one"),
    .init("NO_COLOR", "If not empty, no colour is used"),
  ],
  files: [
    .init(
      "~/.local/share/signet",
      "The data folder ($XDG_DATA_HOME/signet), mode 0700: vault and key of this device"),
    .init(
      "~/.config/signet/agent.json", "Which programs share a session ($XDG_CONFIG_HOME/signet/agent.json)"),
    .init(
      "~/.config/signet/integrity.json",
      "Weights of the signs of tampering, and the reaction ($XDG_CONFIG_HOME/signet/integrity.json); never milder than the built-in reaction"
    ),
    .init("$XDG_RUNTIME_DIR/signet/agent.sock", "Where the agent listens"),
    .init("/etc/pam.d/signet", "How PAM asks for the passcode of the device"),
  ],
  examples: [
    .init("signet activate --qr invite.png", "Activate with a QR code"),
    .init(
      "signet activate --user alice --server id.example.com/main --invite 'XXXX-XXXX-XXXX-XXXX-X'", "By hand"),
    .init("signet otp", "Print a one-time password"),
    .init("signet otp --password-fd 3 3<pin", "The same from a script"),
    .init("signet import backup.json", "Import the accounts of another authenticator"),
    .init("signet scan screenshot.png", "Import an account from its QR code"),
    .init("signet otp Example:alice", "Print a code of an account that was imported"),
    .init(
      "signet export --format aegis --encrypt -o accounts.json", "Write accounts for another authenticator"),
    .init(
      "signet password change --key otp", "Change the password that one-time passwords have of their own"),
    .init("signet approve", "Show the waiting transaction, and approve it"),
    .init("signet report 6jQb7L1qNuvQfQro3fR96A", "Report a transaction that somebody else started"),
    .init("signet renew", "Make new keys"),
    .init("signet scan enrol.png --push-token me --push-service webhook", "Enrol for push messages, too"),
    .init("signet condition show", "See whether anything locks this device's container"),
    .init("signet uaf oob run code.png", "Register or authenticate with the QR code of a UAF server"),
    .init("signet data encrypt --label notes notes.txt notes.sealed", "Encrypt a file"),
  ],
  seeAlso: ["signet-server(1)"],
  classify: exitCode, describe: { TerminalText(describing: $0) })

/// The agent uses features that only Linux has.
private var agentCommands: [Command] {
  #if os(Linux)
    [guarded(.agent), guarded(.unlock), .lock, .status]
  #else
    []
  #endif
}

/// Wraps a command that needs a key: it is refused while the program is tampered with.
///
/// The subcommands in `names` read, deny or remove; they are refused only if the program runs foreign code.
private func guarded(_ command: Command, except names: Set<String> = []) -> Command {
  command.preceded(except: names, by: ProgramIntegrity.admit)
    .preceded(only: names, by: ProgramIntegrity.admitOwnCode)
}

/// Wraps a command that reads, denies or removes: it is refused only if the program runs foreign code.
private func untouched(_ command: Command) -> Command {
  command.preceded(by: ProgramIntegrity.admitOwnCode)
}

@Sendable func exitCode(of error: any Error) -> ExitCode {
  switch error {
  case let failure as SignetError: exitCode(of: failure)
  case let failure as SecretInputFailure: failure.exitCode
  case let failure as VaultFailure: exitCode(of: SignetError.vault(failure))
  case is PasswordDictionaryFailure: .unavailable
  case let failure as InterchangeFailure: exitCode(of: failure)
  case is ActivationCodeFailure, is QRFailure, is InviteCodeFailure,
    is ServerURLFailure, is TypedApprovalFailure, is WireFailure:
    .dataError
  case let failure as CommandFailure: failure.exitCode
  case is AgentConfigurationFailure: .noInput
  case is IntegrityFailure: .permissionDenied
  default: uafExitCode(of: error) ?? agentExitCode(of: error)
  }
}

private func agentExitCode(of error: any Error) -> ExitCode {
  #if os(Linux)
    if let failure = error as? AgentSocketFailure {
      if case .alreadyRunning = failure { return .temporaryFailure }
      return .cannotCreate
    }
  #endif
  return .software
}

private func exitCode(of remedy: KeystoreFailure.Remedy) -> ExitCode {
  switch remedy {
  case .tryLater: .temporaryFailure
  default: .dataError
  }
}

/// Returns the exit code of a failure to reach a server; the same as in `signet-server`.
func exitCode(of failure: TransportFailure) -> ExitCode {
  switch failure {
  case .unreachable, .noResponse, .incompleteResponse: .unavailable
  case .timedOut: .temporaryFailure
  case .cancelled: .interrupted
  case .invalidConfiguration: .configuration
  case .libraryFailure: .software
  default: .protocolError
  }
}

/// Returns the exit code of an import failure; a wrong password of a file counts like any wrong password.
private func exitCode(of failure: InterchangeFailure) -> ExitCode {
  switch failure {
  case .wrongPassword, .macMismatch: .permissionDenied
  default: .dataError
  }
}

private func exitCode(of failure: SignetError) -> ExitCode {
  switch failure {
  case .key(_, let failure): exitCode(of: failure)
  case .uaf(let cause): uafExitCode(of: cause.failure) ?? .software
  case .accountLocked, .accountPolicyBroken, .codesNotAccepted, .integrity: .permissionDenied
  case .refused(let problem)
  where [.containerLocked, .containerAltered, .deviceLocked, .userNotActive].contains(problem.code):
    .permissionDenied
  // The same as in `signet-server`.
  case .refused(let problem) where [.busy, .serverFailure].contains(problem.code): .temporaryFailure
  case .accountLock, .accountPolicy: .dataError
  case .wrongPassword, .lockedOut, .passwordRequired, .waiting, .wiped, .wrongRecoveryCode,
    .passwordExpired:
    .permissionDenied
  case .passwordUsedBefore, .passwordTooYoung, .unlockMethodNotEnabled, .unlockMethodNotOffered: .dataError
  case .biometrics(.cancelled), .passcode(.cancelled): .interrupted
  case .biometrics(.busy), .passcode(.busy): .temporaryFailure
  case .biometrics(.notCapable), .biometrics(.notEnrolled), .biometrics(.unavailable), .passcode(.notCapable),
    .passcode(.unavailable):
    .unavailable
  case .biometrics, .biometricsInvalidated, .passcode: .permissionDenied
  case .dictionary: .unavailable
  case .appData(.locked), .sharedSession(.refused), .sharedSession(.notTrusted), .sharedSession(.tampered):
    .permissionDenied
  case .sharedSession(.unreachable), .sharedSession(.interrupted): .unavailable
  case .sharedSession(.busy): .temporaryFailure
  case .appData: .dataError
  case .pushAuth(.notPending), .pushAuth(.ended), .pushAuth(.expired): .failure
  // The same as for a container that its server no longer knows.
  case .pushAuth(.notEnrolled): .protocolError
  case .pushAuth(.wrongAnswer), .pushAuth(.numberNotOffered): .usage
  case .pushAuthRefused(401, _), .pushAuthRefused(403, _): .permissionDenied
  case .alreadyEnrolled, .pushAuth, .noSuchAccount, .contentRefused, .severalContainers, .notExportable,
    .ocra,
    .challengeRequired, .challengeNotSupported, .passwordRefused,
    .activationCode, .deviceNameRefused, .pushTargetRefused,
    .reasonRefused, .serverNameMismatch,
    .noSuchContainer,
    .noSuchTransaction,
    .decisionNotAllowed:
    .dataError
  case .activationCancelled, .activationAborted: .interrupted
  case .unexpectedAnswer(let status) where (500...599).contains(status): .temporaryFailure
  case .transport(let failure): exitCode(of: failure)
  case .interchange(let failure): exitCode(of: failure)
  case .vault(.diskFull): .inputOutput
  case .vault(.folderMissing), .vault(.folderReadOnly), .vault(.folderUnavailable), .vault(.ownedByAnother),
    .vault(.writableByOthers):
    .cannotCreate
  case .vault(.busy): .temporaryFailure
  case .vault(.keystore(let failure)): exitCode(of: failure.remedy)
  case .vault: .dataError
  case .numberRequired: .usage
  case .wrongNumber: .permissionDenied
  case .transactionExpired, .transactionDecided, .transactionCancelled, .containerWiped: .failure
  default: .protocolError
  }
}
