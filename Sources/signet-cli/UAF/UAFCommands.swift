import Signet
import SignetJSON
import SignetTerminal
import SignetUAFClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Command {
  static let uaf = Command(
    "uaf", "Register and authenticate with servers of FIDO UAF 1.1",
    description: """
      A UAF server knows this device by keys, each in an authenticator: a PIN or a password for this purpose only, a \
      finger, a face, or the passcode of the device. A code or a link of the server starts a registration or an \
      authentication (signet uaf oob run); with a token of the server they can be started here. Requests are sent over \
      https only, and only to the named server and to those where this device is registered.
      """,
    commands: [
      uafRegister, uafAuthenticate, uafDeregister, uafList, uafPIN, uafPassword, uafDelete, uafDevice,
      uafOutOfBand,
      uafPending, uafMetadata,
    ])

  private static let uafMetadata = Command(
    "metadata", "Write the metadata statements of this program's authenticators, which a server needs",
    description:
      "One file for each, named by its AAID with a - for the #. A missing folder is created, for its owner only; existing statements are overwritten.",
    options: [
      .value("output", "The folder", short: "o", named: "dir", isRequired: true, completion: .directory)
    ]
  ) { arguments in
    let folder = arguments.string("output")
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(
        .cannotCreate,
        "the folder \(shellWord(folder)) cannot be made: \(error)")
    }
    var files: [JSONValue] = []
    for (aaid, statement) in UAFAuthenticator.metadataStatements {
      let path = "\(folder)/\(aaid.replacing("#", with: "-")).json"
      do { try Data(statement.utf8).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
        throw CommandFailure(
          .cannotCreate, "\(path) cannot be written: \(error)")
      }
      files.append(.string(path))
    }
    arguments.report(
      "\(files.count) statements were written to \(shellWord(folder)).", ["files": .array(files)]
    )
    return .success
  }

  private static let user = Argument("user", "The user's name at the server")

  private static let newDevice: [Option] = [
    .value(
      "device-name", "The name of this device at the server; used at the first registration",
      named: "name"),
    .flag(
      "keep-with-new-fingers",
      "Keep the key valid when a finger or a face is enrolled later; otherwise it becomes invalid"),
    .flag("passcode-too", "Accept the passcode of the device instead of the finger or the face"),
  ]

  private static let uafRegister = Command(
    "register", "Register an authenticator for a user",
    description: """
      The server has to allow it: with the token of an authentication (signet uaf authenticate prints one), or of a relying party. \
      With --password-fd the new PIN or password is one line.
      """,
    options: UAFCommandOptions.server + [
      UAFCommandOptions.token, UAFCommandOptions.authenticator,
      .value("policy", "The name of the policy at the server", named: "name"),
    ] + newDevice, arguments: [user]
  ) { arguments in
    let options = try UAFCommandOptions(arguments, mayBeAllowed: true)
    let person = TerminalUAFInteraction(arguments, authenticator: arguments.optionalString("authenticator"))
    let authorization = try await options.authorization()
    let device = try options.options.device(createIfMissing: true)
    let operations = try options.operations(person, on: device)
    let outcome = try await options.interacting(person) {
      try await operations.register(
        arguments.string("user"), policy: arguments.optionalString("policy"), device: arguments.newUAFDevice,
        authorization: authorization, options: arguments.uafKeyOptions)
    }
    arguments.report(outcome)
    return .success
  }

  private static let uafAuthenticate = Command(
    "authenticate", "Authenticate a user, and print the token that the server issues",
    description: """
      The printed token lets its holder act as the user for a while: keep it secret. With --password-fd the PIN or the \
      password is one line.
      """,
    options: UAFCommandOptions.server + [
      UAFCommandOptions.authenticator, UAFCommandOptions.picture,
      .value("policy", "The name of the policy at the server", named: "name"),
    ], arguments: [user]
  ) { arguments in
    let options = try UAFCommandOptions(arguments)
    let person = TerminalUAFInteraction(
      arguments, authenticator: arguments.optionalString("authenticator"),
      picture: arguments.optionalString("picture"))
    let operations = try options.operations(person, on: options.options.device(createIfMissing: false))
    try await options.checkServer(of: arguments.string("user"), operations)
    let authorization = try await options.interacting(person) {
      try await operations.authenticate(
        arguments.string("user"), policy: arguments.optionalString("policy"))
    }
    arguments.report(authorization)
    return .success
  }

  private static let uafDeregister = Command(
    "deregister", "Remove an authenticator, or all of them, from the server and from this device",
    description: """
      The command is authorised by the key of this device, or by a token on --token-fd. With the last authenticator \
      the server deletes this device.
      """,
    options: UAFCommandOptions.server + [
      UAFCommandOptions.token, UAFCommandOptions.authenticator,
      .flag("yes", "Do not ask for confirmation", short: "y"),
    ], arguments: [user]
  ) { arguments in
    let options = try UAFCommandOptions(arguments, mayBeAllowed: true)
    let person = TerminalUAFInteraction(arguments)
    let authorization = try await options.authorization() ?? .jws
    let operations = try options.operations(person, on: options.options.device(createIfMissing: false))
    let username = arguments.string("user")
    try await options.checkServer(of: username, operations)
    let aaid = try await operations.localData.aaid(arguments.optionalString("authenticator"), of: username)
    let selection = aaid == nil ? "all authenticators" : "the authenticator \(aaid ?? "")"
    guard
      try await arguments.confirmsDeletion(
        "Remove \(selection) of \(username, limit: 200)")
    else { return .failure }
    let removed = try await operations.deregister(username, aaid: aaid, authorization: authorization)
    arguments.report(removed: removed)
    if try await operations.localData.isWithoutKeys(username) {
      arguments.errorOutput.print(
        "signet: the server could not be asked to forget this device; run signet uaf device sync later")
    }
    return .success
  }

  private static let uafDelete = Command(
    "delete", "Delete an authenticator, or all of them, from this device alone",
    description:
      "For a server that cannot be reached: its registration stays. Otherwise use signet uaf deregister.",
    options: [
      UAFCommandOptions.facet, UAFCommandOptions.authenticator,
      .flag("yes", "Do not ask for confirmation", short: "y"),
    ], arguments: [user]
  ) { arguments in
    let options = try UAFCommandOptions(arguments)
    let operations = try options.localOperations(
      TerminalUAFInteraction(arguments), on: options.options.device(createIfMissing: false))
    let username = arguments.string("user")
    let aaid = try await operations.localData.aaid(arguments.optionalString("authenticator"), of: username)
    guard
      try await arguments.confirmsDeletion(
        "Delete what this device has for \(username, limit: 200); the server is not notified"
      )
    else { return .failure }
    let wasWithoutKeys = try await operations.localData.isWithoutKeys(username)
    let removed = try await operations.localData.deleteAuthenticator(of: username, aaid: aaid)
    guard !removed.isEmpty || wasWithoutKeys else {
      throw CommandFailure(
        .dataError, "this device has no such key of that user; signet uaf list shows those that it has")
    }
    arguments.report(removed: removed)
    return .success
  }

  private static let uafList = Command(
    "list", "List users, authenticators and the data of this device",
    description: "No server is asked, and nothing is changed.", options: [UAFCommandOptions.facet]
  ) { arguments in
    let options = try UAFCommandOptions(arguments)
    guard let device = try options.options.deviceIfAny() else {
      if arguments.isSet("json") {
        arguments.output.print(json: #"{"accounts":[],"authenticators":[]}"#)
      } else {
        arguments.errorOutput.print(
          "Nothing is registered yet; see signet uaf register and signet uaf oob run.")
      }
      return .success
    }
    let local = try options.localOperations(TerminalUAFInteraction(arguments), on: device).localData
    let (accounts, authenticators) = (try await local.accounts(), try await local.authenticators())
    let information = try await local.deviceInformation()
    if arguments.isSet("json") {
      arguments.output.print(
        json: JSONValue.object(
          UAFListing(accounts, authenticators, information, arguments.string("facet")).json
        )
        .text)
      return .success
    }
    if let information {
      arguments.output.print("This device: \(information.name, limit: 200)")
    }
    arguments.output.print("Facet id: \(arguments.string("facet"), limit: 200)")
    var table = TextTable(["AUTHENTICATOR", "AAID", "USABLE", "USERS"])
    for authenticator in authenticators {
      let usable =
        !authenticator.isSupportedByHardware
        ? "no: not on this device" : authenticator.isEnrolledInSystem ? "yes" : "no: not set up"
      let users = Set(authenticator.keys.map(\.username)).sorted().joined(separator: ", ")
      table.append([
        authenticator.title, authenticator.aaid, usable, users,
      ])
    }
    arguments.output.print(table)
    return .success
  }

  private static let uafPIN = Command(
    "pin", "Change the PIN of a user",
    description:
      "No server is asked. With --password-fd the first line is the current PIN and the second the new one.",
    options: [UAFCommandOptions.facet], arguments: [user]
  ) { arguments in
    let options = try UAFCommandOptions(arguments)
    let person = TerminalUAFInteraction(arguments)
    let operations = try options.localOperations(person, on: options.options.device(createIfMissing: false))
    try await options.interacting(person) { try await operations.changePIN(of: arguments.string("user")) }
    arguments.report("The PIN was changed.", ["changed": .bool(true)])
    return .success
  }

  private static let uafPassword = Command(
    "password", "Change the password of a user",
    description:
      "No server is asked. With --password-fd the first line is the current password and the second the new one.",
    options: [UAFCommandOptions.facet], arguments: [user]
  ) { arguments in
    let options = try UAFCommandOptions(arguments)
    let person = TerminalUAFInteraction(arguments)
    let operations = try options.localOperations(person, on: options.options.device(createIfMissing: false))
    try await options.interacting(person) {
      try await operations.changePassword(of: arguments.string("user"))
    }
    arguments.report("The password was changed.", ["changed": .bool(true)])
    return .success
  }

  private static let uafOutOfBand = Command(
    "oob", "Carry out an operation that a server started elsewhere: a code, a link or a message",
    description: """
      decode shows the operation only. run carries it out; its token can be used once: a registration makes a key \
      here, an authentication shows the transaction and prints the token that the server issues. With --password-fd \
      the PIN or the password is one line.
      """,
    options: UAFCommandOptions.server + runOptions + newDevice,
    arguments: [Argument("action", "decode or run", completion: .choices(["decode", "run"])), scanned]
  ) { arguments in
    let action = try arguments.choice("action", of: OutOfBandAction.self)
    let options = try UAFCommandOptions(arguments)
    let person = TerminalUAFInteraction(
      arguments, authenticator: arguments.optionalString("authenticator"),
      user: arguments.optionalString("user"), picture: arguments.optionalString("picture"))
    let text = try arguments.scannedUAFText()
    let device = try options.options.device(createIfMissing: action == .run)
    let operations = try options.operations(person, on: device)
    let payload = try await operations.decode(scanned: text)
    switch action {
    case .decode: arguments.report(payload)
    case .run:
      try await options.interacting(person) { try await arguments.run(try await operations.redeem(payload)) }
    }
    return .success
  }

  private enum OutOfBandAction: String, CaseIterable {
    case decode
    case run
  }

  private static let scanned = Argument(
    "file", "A picture of a QR code or a text; - for standard input", completion: .file)

  private static let runOptions: [Option] = [
    UAFCommandOptions.authenticator, UAFCommandOptions.picture,
    .value("user", "Use this account instead of asking", named: "name"),
  ]

  private static let uafPending = Command(
    "pending", "List the operations that wait for this device, newest first",
    description: """
      With --run, the newest operation is carried out. Servers announce operations by push, and signet listen waits for \
      them, so do not run this command periodically.
      """,
    options: UAFCommandOptions.server + runOptions + newDevice + [.flag("run", "Carry out the newest")]
  ) { arguments in
    let options = try UAFCommandOptions(arguments)
    let person = TerminalUAFInteraction(
      arguments, authenticator: arguments.optionalString("authenticator"),
      user: arguments.optionalString("user"), picture: arguments.optionalString("picture"))
    let operations = try options.operations(person, on: options.options.device(createIfMissing: false))
    let pending = try await operations.pendingOutOfBandOperations()
    arguments.report(errors: pending.errors)
    guard arguments.isSet("run") else {
      arguments.report(pending)
      return pending.operations.isEmpty && !pending.errors.isEmpty ? .unavailable : .success
    }
    guard let newest = pending.operations.first else {
      arguments.errorOutput.print("Nothing waits.")
      return pending.errors.isEmpty ? .failure : .unavailable
    }
    try await options.interacting(person) {
      try await arguments.run(try await operations.redeem(newest.payload))
    }
    return .success
  }
}

extension Arguments {
  /// The name of this device at its first registration.
  fileprivate var newUAFDevice: UAFNewDevice {
    UAFNewDevice(name: optionalString("device-name") ?? ProcessInfo.processInfo.hostName)
  }

  fileprivate var uafKeyOptions: UAFKeyOptions {
    var options = UAFKeyOptions()
    options.invalidateOnNewOsBiometrics = !isSet("keep-with-new-fingers")
    options.allowDevicePasscodeAsFallback = isSet("passcode-too")
    return options
  }

  fileprivate func scannedUAFText() throws -> String { try ScannedText.read(string("file")) }

  /// Runs the operation of a redeemed token.
  fileprivate func run(_ operation: OutOfBandOperation) async throws {
    switch operation {
    case .registration(let registration):
      report(try await registration.run(device: newUAFDevice, options: uafKeyOptions))
    case .authentication(let authentication): report(try await authentication.run())
    case .deregistration(let deregistration): report(removed: try await deregistration.run())
    }
  }
}

extension UAFLocalData {
  /// Returns true if a user's account has no key on this device: its server may still know this device.
  fileprivate func isWithoutKeys(_ username: String) async throws -> Bool {
    guard try await accounts().contains(where: { $0.username == username }) else { return false }
    return try await !authenticators().contains { $0.keys.contains { $0.username == username } }
  }

  /// Returns the AAID of an authenticator that the user names by its kind; any other text is returned as an AAID.
  fileprivate func aaid(_ selector: String?, of username: String) async throws -> String? {
    guard let selector else { return nil }
    guard let kind = UAFAuthenticator.Kind(rawValue: selector) else { return selector }
    let authenticator = try await authenticators().first { $0.kind == kind }
    return authenticator?.keys.last { $0.username == username }?.aaid ?? authenticator?.aaid ?? selector
  }
}
