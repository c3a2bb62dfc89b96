import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetStorage
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// `signet-server init`: creates the data folder of a server.
enum InitCommand {
  static let command = Command(
    "init", "Create the data folder of a new server",
    description: """
      Creates a folder with new keys, a certificate authority, a certificate for the host of the URL, an \
      empty database and an operator's API key. It is created completely or not at all; a folder that is not \
      empty is refused.

      Devices trust the authority in ca.pem: distribute that file. Its key is not kept. The certificate is \
      valid for 397 days; 'certificate renew' makes another.
      """,
    options: [
      .value(
        "data", "The folder to make; the folder above it must exist", named: "dir", isRequired: true,
        completion: .directory),
      .value(
        "url", "Where devices find the server: HOST[:PORT]/DOMAIN", named: "host[:port]/domain",
        isRequired: true),
      .value(
        "listen",
        "Where to listen, if not on all addresses (for localhost: on 127.0.0.1) and on the URL's port",
        named: "address:port"),
      .value(
        "san", "A further DNS name or IP address for the certificate", named: "name", isRepeatable: true),
      .value(
        "protection", "What opens a container's keys, besides the device", default: "password",
        completion: .choices(["password", "device"])),
      .value(
        "account-policies",
        "Requirements for devices, as JSON: {\"deviceTampering\":{\"score\":0.8},\"screenLock\":{}}",
        named: "policies"),
      .value(
        "storage",
        "The PostgreSQL database that stores the data, in place of a file in the folder; it must be empty. Keep a password in ~/.pgpass rather than in this URI",
        named: "postgres://host/database"),
      .flag("exportable-otp", "Let users take one-time password secrets to other authenticators"),
      .value("attempts", "Wrong passwords that lock a container, 1 to 100", named: "n", default: "5"),
      .value(
        "require-keystore",
        "The minimum keystore for a device's keys: any, simulated (hardware, or a program that simulates it) or hardware; it is what the device reports, which nothing attests",
        named: "level", default: "any", completion: .choices(KeystoreRequirement.allCases.map(\.rawValue))),
    ] + PasswordOptions.all + PolicyOptions.all + PolicyOptions.ofKeys + [OperatorOptions.json],
    examples: [
      .init(
        "signet-server init --data ./bank --url id.example.com/bank --policy psd2",
        "Make a server whose policy meets a profile"),
      .init(
        "signet-server init --data ./bank --url id.example.com/bank --policy psd2 --otp-policy pin-6",
        "Have the one-time passwords ask for a PIN of their own"),
      .init(
        "signet-server init --data ./demo --url localhost:8443/demo --minimum-length 8 --attempts 3",
        "Make a server on this machine that asks for passwords of 8 characters"),
    ]
  ) { arguments in
    let settings = try settings(arguments)
    let names = try CertificateCommands.alternativeNames(arguments)
    let folder: DataDirectory
    do {
      folder = try await DataDirectory.create(
        at: arguments.string("data"), settings, alternativeNames: names,
        masterKeyFile: Environment.masterKeyFile)
    } catch DataDirectoryFailure.storage(.unreadableAddress(let reason)) {
      throw UsageFailure.refused("--storage: \(reason)")
    } catch DataDirectoryFailure.unreadable(let path, ENOENT) where path != Environment.masterKeyFile {
      throw CommandFailure(
        .noInput, "there is no folder \(shellWord(path)); make it first, or name another with --data")
    }
    let pin = Base64URL.encode(try folder.certificatePin())
    let listen = ListenAddress(settings)
    if arguments.isSet("json") {
      arguments.output.print([
        "folder": .string(folder.path), "url": .string(settings.serverURL.fullForm),
        "listen": .string(listen.text), "authority": .string("\(folder.path)/ca.pem"), "pin": .string(pin),
        "profile": .object(settings.profile.json),
      ])
    } else {
      arguments.output.print(
        fields: [
          ("Folder", folder.path), ("Server", settings.serverURL.fullForm), ("Listens on", listen.text),
          ("Trust", "\(folder.path)/ca.pem"), ("Pin", pin),
          ("Policy", settings.profile.protection.stringWithLock),
        ]
          + PolicyOptions.keys.compactMap { key, name in
            settings.profile.keys[key].map { ("Policy, \(name)", $0.stringWithLock) }
          }, copying: ["Pin"])
      arguments.errorOutput.print("Start it: \(command: Environment.serving(arguments.string("data")))")
    }
    return .success
  }

  private static func settings(_ arguments: Arguments) throws -> ServerConfigurationFile {
    let url: ServerURL
    do { url = try ServerURL(arguments.string("url")) } catch {
      throw UsageFailure.refused("--url: \(error)")
    }
    let listen = try arguments.optionalString("listen").map(ListenAddress.init(parsing:))
    let protection = try PolicyOptions.policy(arguments) ?? protection(arguments)
    var profile = ContainerProfile(protection: protection, totp: .standard)
    profile.keys = try PolicyOptions.keyPolicies(arguments)
    profile.isOTPExportable = arguments.isSet("exportable-otp")
    if let text = arguments.optionalString("account-policies") {
      do throws(AccountPolicyFailure) {
        profile.accountPolicies = try AccountPolicySet(parsing: Array(text.utf8))
        try AccountPolicyRegistry().check(profile.accountPolicies)
        for policy in UnevaluatedPolicy.all(in: profile.accountPolicies) {
          arguments.errorOutput.print("signet-server: \(policy)")
        }
      } catch { throw UsageFailure.refused("--account-policies: \(error.description)") }
    }
    var settings = ServerConfigurationFile(
      serverURL: url, listenAddress: listen?.address, listenPort: listen?.port, profile: profile)
    settings.databaseServer = arguments.optionalString("storage")
    guard settings.databaseServer.map(ServerConfigurationFile.mayNameServer) ?? true else {
      throw UsageFailure.refused("--storage begins with postgres:// or postgresql://")
    }
    settings.keystoreRequirement =
      KeystoreRequirement(rawValue: arguments.string("require-keystore")) ?? .any
    return settings
  }

  private static func protection(_ arguments: Arguments) throws -> ProtectionPolicy {
    guard arguments.string("protection") == "password" else {
      for option in PasswordOptions.all.map(\.name) + ["attempts"] where arguments.count(option) > 0 {
        throw UsageFailure.refused("--\(ours: option) goes with --protection password only")
      }
      return .device
    }
    let attempts = try arguments.integer("attempts", in: LockPolicy.allowedLimits)
    return .password(try PasswordOptions.policy(arguments), .lock(limit: attempts))
  }
}

/// A numeric address and a port in the form of `--listen`: `127.0.0.1:8443` or `[::]:443`.
struct ListenAddress {
  let address: String
  let port: UInt16

  init(_ settings: ServerConfigurationFile) {
    (address, port) = (settings.listenAddress, settings.listenPort)
  }

  init(parsing text: String) throws(UsageFailure) {
    let refusal = UsageFailure.refused(
      "--listen must be a numeric address and a port: 127.0.0.1:8443 or [::]:443")
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[colon...].dropFirst()), port > 0 else {
      throw refusal
    }
    let host = text[..<colon]
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let bare = isBracketed ? String(host.dropFirst().dropLast()) : String(host)
    var storage = in6_addr()
    let family = isBracketed ? AF_INET6 : AF_INET
    guard inet_pton(family, bare, &storage) == 1 else { throw refusal }
    (address, self.port) = (bare, port)
  }

  /// An address at which this machine can reach the listener.
  var reachable: String { ["::", "0.0.0.0"].contains(address) ? "127.0.0.1" : address }

  /// The form of `--listen`.
  var text: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }
}
