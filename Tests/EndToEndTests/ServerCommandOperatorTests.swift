import Foundation
import Signet
import SignetDataDirectory
import SignetImages
import SignetJSON
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import Testing

/// The commands of operators and relying parties, with a server in another process.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ServerCommandOperatorTests {
  /// From the invite to the signed decision, all through the command line except the device.
  @Test func doesTheMainJob() async throws {
    let server = try await RunningServer.start(["--minimum-length", "8", "--attempts", "3"])
    let added = try await server.run("user", "add", "alice")
    #expect(added.status == 0)
    #expect(added.output == "added alice\n")

    let image = "\(server.folder.path)/alice.png"
    let invited = try await server.json("activation", "create", "alice", "--lifetime", "15m", "--png", image)
    let text = try QRReader.singleText(inPNGAt: image)
    #expect(text == (try invited.string("code")))
    let permissions = try FileManager.default.attributesOfItem(atPath: image)[.posixPermissions] as? Int
    #expect(permissions == 0o600)
    let taken = try await server.run("activation", "create", "alice", "--png", image)
    #expect(taken.isRefusal(73, "\(image) exists already; remove it, or name another file with --png"))
    let nobody = "\(server.folder.path)/nobody.png"
    #expect(try await server.run("activation", "create", "nobody", "--png", nobody).status == 67)
    #expect(!FileManager.default.fileExists(atPath: nobody))
    let code = try ActivationCode(parsing: text)
    #expect(code.invite.typedForm == (try invited.string("invite")))
    #expect(code.pins.count == 1)

    let (device, container) = try await activate(code, server)
    let containers = try await server.json("container", "list", "alice").array("containers")
    guard containers.count == 1, case .object(let listed) = containers[0] else {
      Issue.record("not one container: \(containers)")
      return
    }
    #expect(try listed.string("state") == "active")
    #expect(try listed.string("name") == "Laptop")

    let key = "\(server.folder.path)/shop.key"
    #expect(try await server.run("key", "create", "shop", "--output", key).status == 0)
    try await checkCode(of: device, container, server, key)
    try await checkTransaction(of: device, container, server, key)

    let shown = try await server.run("container", "show", listed.string("id"))
    #expect(shown.status == 0, shown.summary)
    for field in ["active", "Laptop", "software", "linux", "alice"] {
      #expect(shown.output.contains("\(field)\n"), shown.summary)
    }
    let revoked = try await server.run("container", "revoke", listed.string("id"))
    #expect(revoked.output == "revoked \(try listed.string("id")) of user alice, device \"Laptop\"\n")
    #expect(try await server.run("container", "list", "alice").output.contains("revoked"))
    await server.stop()
  }

  @Test("key hardware that a device reports is shown as claimed; software is shown as software")
  func showsClaims() async throws {
    let server = try await RunningServer.start(["--protection", "device"])
    _ = try await server.device().json("activate", "--code-file", server.codeFile("alice"))
    func shown(
      _ user: String, _ server: RunningServer
    ) async throws -> (list: String, container: JSONObject) {
      let list = try await server.run("container", "list", user)
      let containers = try await server.json("container", "list", user).array("containers")
      guard case .object(let container)? = containers.first else { throw JSONFailure.notAnObject }
      return (list.output, container)
    }
    let before = try await shown("alice", server)
    #expect(before.list.contains("software") && !before.list.contains("claimed"), "\(before.list)")
    #expect(try before.container.string("keyProtection") == "software")
    await server.stop()
    // The value that a device with hardware would have reported.
    let storage = try DataDirectory(opening: server.data).serviceContext(log: EventLog { _ in }).storage
    let stored = try await storage.containers(user: "alice").first
    var container = try #require(stored)
    (container.id, container.keystore, container.keyOrigin) = ("hardware", "tpm2", "tpm2")
    (container.user, container.activation) = ("bob", "bobs")
    try await storage.seed(
      users: [UserRecord(id: "bob", created: 1)],
      activations: [
        ActivationRecord(
          id: "bobs", user: "bob", sealedInviteKey: [], salt: [], memoryKiB: 0, passes: 0, lanes: 0,
          profile: [], created: 1, expires: 1, state: .used)
      ], containers: [container])
    await storage.close()
    let again = try await server.again()
    let after = try await shown("bob", again)
    #expect(after.list.contains("tpm2 (claimed)"), "\(after.list)")
    #expect(try after.container.string("keyProtection") == "hardwareClaimed")
    let details = try await again.run("container", "show", after.container.string("id"))
    #expect(details.output.contains("tpm2 (claimed)\n"), details.summary)
    await again.stop()
  }

  private static let password = SharedSecretBox(SecretBytes(copying: Array("correct horse".utf8)))

  private func activate(_ code: ActivationCode, _ server: RunningServer) async throws -> (Device, Container) {
    let folder = "\(server.folder.path)/device"
    let authority = try String(contentsOfFile: "\(server.data)/ca.pem", encoding: .utf8)
    let device = Device(
      // The installed server's invites need its key derivation.
      vault: try Vault.forTests(folder) { $0.derivation = .argon2id },
      connection: ConnectionConfiguration(certificateAuthoritiesPEM: authority))
    let handler = ScriptedActivation(password: "correct horse")
    let container = try await device.createContainer(
      ContainerInitialization(code: code, deviceName: "Laptop"), handler: handler)
    #expect(handler.requests.map(\.policy.minimumLength) == [8])
    return (device, container)
  }

  private func checkCode(
    of device: Device, _ container: Container, _ server: RunningServer, _ key: String
  ) async throws {
    let code = try await device.oneTimePassword(for: container, by: .password(Self.password)).code
    let words = ["otp", "validate", "alice", code, "--data", server.data, "--key-file", key]
    let valid = try await ServerCommand.run(words)
    #expect((valid.status, valid.output) == (0, "valid\n"))
    let again = try await ServerCommand.run(words)
    #expect((again.status, again.output) == (1, "not valid\n"))
  }

  private func checkTransaction(
    of device: Device, _ container: Container, _ server: RunningServer, _ key: String
  ) async throws {
    let text = "Pay 250.00 EUR to Jane Doe"
    let made = try await server.json("transaction", "create", "alice", text, "--key-file", key)
    let id = try made.string("id")
    #expect(try made.string("status") == "pending")
    let early = try await server.run("transaction", "show", id, "--wait", "0", "--key-file", key)
    #expect(early.status == 75)

    async let waiting = server.run("transaction", "show", id, "--wait", "1m", "--key-file", key)
    let pending = try await device.pendingTransactions(for: container)
    #expect(pending.map(\.text) == [text])
    try await device.decide(
      try #require(pending.first), .accepted, with: container, by: .password(Self.password))
    let shown = try await waiting
    #expect(shown.status == 0, "\(shown.errorOutput)")
    #expect(shown.output.contains("accepted"))
    let decision = try await server.json("transaction", "show", id, "--key-file", key).object("decision")
    #expect(try decision.string("publicKeyPEM").hasPrefix("-----BEGIN PUBLIC KEY-----"))
  }

  @Test func printsForPeopleAndForPrograms() async throws {
    let server = try await RunningServer.start()
    _ = try await server.json("user", "add", "bob")
    _ = try await server.json("user", "add", "älice/ö?#%")
    let users = try await server.run("user", "list").output.split(separator: "\n").map(String.init)
    #expect(users.first == "USER        NAME  ADDED                 STATE")
    #expect(users.dropFirst().map { $0.hasSuffix("Z  active") } == [true, true])
    let array = try await server.json("user", "list").array("users")
    #expect(array.count == 2)
    // A user ID may have any characters in a path.
    #expect(try await server.json("container", "list", "älice/ö?#%").array("containers").isEmpty)
    #expect(try await server.run("user", "unlock", "älice/ö?#%").output == "unlocked älice/ö?#%\n")

    let shown = try await server.run("activation", "create", "bob", "--show-qr")
    #expect(shown.output.contains("Invite code  "))
    #expect(shown.output.contains("Server       \(server.url)\n"))
    #expect(shown.output.split(separator: "\n").count > 25)
    #expect(!shown.output.contains("\u{1B}"))
    let quiet = try await server.run("activation", "create", "bob")
    #expect(quiet.output.split(separator: "\n").count == 4)

    let events = try await server.run("audit", "list").output
    #expect(events.contains("user.unlocked"))
    let page = try await server.json("audit", "list", "--after", "1", "--limit", "2").array("entries")
    #expect(page.count == 2)
    await server.stop()
  }

  @Test func turnsProblemsIntoMessagesAndCodes() async throws {
    let server = try await RunningServer.start()
    _ = try await server.json("user", "add", "alice")
    let cases: [(words: [String], status: Int32, message: String)] = [
      (["user", "add", "alice"], 73, "The resource already exists. Choose another id."),
      (["user", "add", " alice"], 65, "begins or ends with a space"),
      (["user", "unlock", "nobody"], 67, "There is no user \"nobody\"; 'signet-server user add' adds one."),
      (
        ["activation", "create", "nobody"], 67,
        "There is no user \"nobody\"; 'signet-server user add' adds one."
      ),
      (["activation", "create", "alice", "--lifetime", "59s"], 64, "--lifetime must be a duration"),
      (
        ["container", "list", "nobody"], 67, "There is no user \"nobody\"; 'signet-server user add' adds one."
      ),
      (["container", "show", "none"], 67, "There is no container with this id."),
      (["container", "revoke", "none"], 67, "There is no container with this id."),
      (
        ["key", "revoke", "none"], 67,
        "There is no API key with this id. 'signet-server key list' shows what there is."
      ),
      (["otp", "validate", "alice", "123456"], 64, "--key-file is missing"),
      (
        ["transaction", "show", "none", "--key-file", "\(server.data)/admin.key"], 77,
        "lacks the scope \"relying-party\". It is in \(server.data)/admin.key; name another with --key-file, or make one:"
      ),
      (["user", "list", "--server", server.url], 64, "--server and --data exclude each other"),
      (["user", "list", "--key-file", "\(server.data)/none"], 66, "none cannot be read: No such file"),
      (["user", "list", "--key-file", "\(server.data)/ca.pem"], 65 + 13, "contains no API key"),
    ]
    for (words, status, message) in cases {
      let result = try await ServerCommand.run(words + ["--data", server.data])
      #expect(result.status == status, "\(words): \(result.errorOutput)")
      #expect(result.errorOutput.contains(message), "\(words): \(result.errorOutput)")
      #expect(result.output.isEmpty)
    }
    await server.stop()
    let gone = try await server.run("user", "list")
    #expect(gone.status == 69)
    #expect(gone.errorOutput.contains("cannot be reached at \(server.url)"))
    #expect(gone.errorOutput.contains("start it: signet-server serve --data \(server.data)"))
  }

  @Test(
    "if only the output fails, the message says that the command was executed",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func fullOutput() async throws {
    let server = try await RunningServer.start()
    let full = open("/dev/full", O_WRONLY)
    try #require(full >= 0)
    defer { close(full) }
    var command = try ServerCommand.process(["user", "add", "alice", "--data", server.data])
    command.output = .descriptor(full)
    let added = try await command.finish()
    #expect(
      added.isRefusal(
        74, "cannot write the output: No space left on device; what was asked for was done"),
      added.summary)
    #expect(try await server.run("user", "list").output.contains("alice"))
    await server.stop()
  }

  @Test(
    "an image file is complete even if the command's output fails",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func fullOutputBesidePicture() async throws {
    let server = try await RunningServer.startWithShop()
    try await server.addUser("alice")
    let full = open("/dev/full", O_WRONLY)
    try #require(full >= 0)
    defer { close(full) }
    for (words, start) in [
      (["activation", "create", "alice"], "{"), (["app", "invite", "alice"], "pushauth://"),
      (["transaction", "offer", "Sign in", "--key-file", server.shopKey], "signet:"),
    ] {
      let picture = server.folder.file("\(words[0]).png")
      var command = try ServerCommand.process(words + ["--png", picture, "--data", server.data])
      command.output = .descriptor(full)
      let made = try await command.finish()
      #expect(made.isRefusal(74, "what was asked for was done"), made.summary)
      #expect(try QRReader.singleText(inPNGAt: picture).hasPrefix(start), "\(words)")
    }
    await server.stop()
  }

  @Test(
    "a synonym of a command gets a hint with the right command",
    arguments: [
      ("user unsuspend alice", "resume"), ("transaction cancel 1", "withdraw"), ("audit show", "list"),
      ("user suspnd alice", "suspend"),
    ])
  func suggests(_ line: String, _ command: String) async throws {
    let words = line.split(separator: " ").map { String($0) }
    let refused = try await ServerCommand.run(words)
    #expect(
      refused.isRefusal(64, "unknown command '\(words[1])'; did you mean \(command)?"), refused.summary)
  }

  @Test(
    "a name that cannot be part of a URL is refused, and its operand is named", arguments: ["", ".", ".."])
  func refusesNamesOfFolders(_ name: String) async throws {
    // The command rejects the name before it contacts the server.
    let folder = try TemporaryFolder()
    try await InitializedFolder.make([], try FreePort.find(), in: folder)
    for (words, operand) in [
      (["user", "show", name], "USER"), (["user", "delete", name], "USER"),
      (["user", "unlock", name], "USER"),
      (["container", "list", name], "USER"), (["container", "lock", name], "ID"),
      (["device", "list", name], "USER"), (["device", "revoke", name], "ID"),
      (["key", "revoke", name], "ID"),
      (["client", "show", name], "ID"), (["token", "remove", name], "SERIAL"),
      (["token", "assign", name, "alice"], "SERIAL"), (["app", "remove", name], "ID"),
      (["uaf", "remove-target", name], "ID"), (["uaf", "remove-credential", name, "AQ"], "AAID"),
      (["uaf", "release-credential", "7357#0001", name], "KEY"),
    ] {
      let refused = try await ServerCommand.run(words + ["--data", folder.file("data")])
      #expect(refused.isRefusal(64, "\(operand) cannot be empty, . or .."), "\(words): \(refused.summary)")
    }
  }

  @Test func takesServerTrustAndKeyFromTheEnvironment() async throws {
    let server = try await RunningServer.start()
    _ = try await server.json("user", "add", "alice")
    let key = "\(server.folder.path)/shop.key"
    #expect(try await server.run("key", "create", "shop", "--output", key).status == 0)
    var environment = ["SIGNET_SERVER": server.url, "SIGNET_CA_FILE": "\(server.data)/ca.pem"]
    let missing = try await ServerCommand.run(["otp", "validate", "alice", "123456"], environment)
    #expect(missing.status == 64)
    environment["SIGNET_API_KEY_FILE"] = "\(key).none"
    let lost = try await ServerCommand.run(["otp", "validate", "alice", "123456"], environment)
    #expect(
      lost.isRefusal(
        66, "\(key).none cannot be read: No such file or directory; name another with --key-file"))
    #expect(lost.errorOutput.contains("signet-server key create NAME --scope relying-party --output FILE"))
    environment["SIGNET_API_KEY_FILE"] = key
    #expect(try await ServerCommand.run(["otp", "validate", "alice", "123456"], environment).status == 1)
    // The relying party's key does not replace the operator's.
    #expect(try await ServerCommand.run(["user", "list"], environment).status == 77)
    #expect(
      try await ServerCommand.run(["user", "list", "--data", server.data], ["SIGNET_API_KEY_FILE": key])
        .status
        == 0)
    environment["SIGNET_CA_FILE"] = nil
    let untrusted = try await ServerCommand.run(["otp", "validate", "alice", "123456"], environment)
    #expect(untrusted.status == 76)
    #expect(untrusted.errorOutput.contains("its issuer is not trusted; name the server's ca.pem with --ca"))
    #expect(try await ServerCommand.run("user", "list").status == 64)
    // Options may precede the command.
    let early = try await ServerCommand.run("--data", server.data, "--json", "user", "list")
    #expect(early.status == 0 && early.output.contains("alice"), early.summary)
    let unknown = try await ServerCommand.run("--offline", "user", "list", "--data", server.data)
    #expect(unknown.isRefusal(64, "unknown option --offline"), unknown.summary)
    await server.stop()
  }

  @Test func makesShowsAndRevokesKeys() async throws {
    let server = try await RunningServer.start()
    let made = try await server.run("key", "create", "second", "--scope", "admin", "--scope", "relying-party")
    #expect(made.status == 0)
    // Standard output has nothing but the key.
    #expect(made.output.hasPrefix("signet_"))
    #expect(made.output.split(separator: "\n").count == 1)
    #expect(made.errorOutput.contains("it can't be shown again"))
    let file = "\(server.folder.path)/second.key"
    #expect(
      FileManager.default.createFile(
        atPath: file, contents: Data(made.output.utf8), attributes: [.posixPermissions: 0o600]))
    #expect(try await server.run("user", "list", "--key-file", file).status == 0)
    let id = String(made.output.split(separator: "_")[1])
    #expect(try await server.run("key", "revoke", id).output == "revoked \(id)\n")
    let refused = try await server.run("user", "list", "--key-file", file)
    #expect(refused.status == 77)
    #expect(refused.errorOutput.contains("does not accept the API key in \(file); name another"))
    let listed = try await server.run("key", "list").output
    #expect(listed.contains("second"))
    #expect(!listed.contains(made.output.prefix(40)))
    // An existing file is not overwritten, and no key is made for it.
    let before = try await server.json("key", "list").array("keys").count
    let taken = try await server.run("key", "create", "third", "--output", file)
    #expect(
      taken.isRefusal(
        73, "\(file) exists already; remove it, or name another file with --output; nothing was made"))
    #expect(try await server.json("key", "list").array("keys").count == before)
    #expect(chmod(file, 0o644) == 0)
    #expect(try await server.run("user", "list", "--key-file", file).status == 77)
    await server.stop()
    // The log has no secret.
    let key = made.output.split(separator: "_", maxSplits: 2)[2].prefix { $0 != "\n" }
    #expect(!server.events.contains(key))
  }

  @Test("the last operator key cannot be revoked; a lost one is replaced without a server")
  func findsTheWayBack() async throws {
    let server = try await RunningServer.start()
    guard case .object(let only) = try await server.json("key", "list").array("keys")[0] else {
      Issue.record("no key")
      return
    }
    let first = try only.string("id")
    let kept = try await server.run("key", "revoke", first)
    #expect(kept.status == 1)
    #expect(
      kept.errorOutput.contains("This is the last active API key with the scope admin. Create another key"))
    #expect(try await server.run("key", "create", "second", "--scope", "admin").status == 0)
    #expect(try await server.run("key", "revoke", first).status == 0)
    let path = "\(server.data)/admin.key"
    let lockedOut = try await server.run("user", "list")
    #expect(lockedOut.status == 77)
    #expect(
      lockedOut.errorOutput.contains(
        "does not accept the API key in \(path); if it was revoked, remove the file"))
    #expect(lockedOut.errorOutput.contains("--offline --data \(server.data) --output \(path)"))
    let words = ["key", "create", "operator", "--scope", "admin", "--offline"]
    #expect(try await ServerCommand.run(words).status == 64)
    #expect(try await ServerCommand.run(words + ["--data", server.data, "--key-file", path]).status == 64)
    #expect(try await ServerCommand.run(words + ["--data", server.data, "--output", path]).status == 73)
    try FileManager.default.removeItem(atPath: path)
    let missing = try await server.run("user", "list")
    #expect(missing.status == 66 && missing.errorOutput.contains("\(path) is missing; put it back, or make"))
    #expect(missing.errorOutput.contains("--offline --data \(server.data) --output \(path)"))
    let made = try await ServerCommand.run(words + ["--data", server.data, "--output", path])
    #expect(made.status == 0, "\(made.errorOutput)")
    #expect(try await server.run("user", "list").status == 0)
    // The first key is that of `init`.
    let entries = try await server.json("audit", "list").array("entries")
    let local = entries.filter { entry in
      guard case .object(let entry) = entry else { return false }
      return entry["event"] == "key.added" && entry["by"] == "local"
    }
    #expect(local.count == 2)
    #expect(try await server.run("audit", "verify").status == 0)
    await server.stop()
  }

  @Test("with --data a command connects to the listening address, before the host name resolves")
  func reachesAServerOfThisMachine() async throws {
    let folder = try TemporaryFolder()
    let port = try FreePort.find()
    let words = [
      "init", "--data", "\(folder.path)/data", "--url", "id.example.test/main", "--listen",
      "127.0.0.1:\(port)",
    ]
    #expect(try await ServerCommand.run(words).status == 0)
    let server = try await RunningServer(folder, port)
    #expect(try await server.run("user", "add", "alice").output == "added alice\n")
    let elsewhere = try await ServerCommand.run([
      "user", "list", "--server", "id.example.test/main", "--ca", "\(server.data)/ca.pem", "--key-file",
      "\(server.data)/admin.key",
    ])
    #expect(elsewhere.status == 69)
    #expect(elsewhere.errorOutput.contains("id.example.test was not found"), "\(elsewhere.errorOutput)")
    await server.stop()
    #expect(try await server.run("user", "list").errorOutput.contains("start it: signet-server serve"))
  }
}
