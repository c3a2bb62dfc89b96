import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetProtocol
import SignetServer
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `signet-server certificate …`.
enum CertificateCommands {
  static let group = Command(
    "certificate", "Show and renew the server's certificate in its data folder",
    options: [OperatorOptions.requiredData, OperatorOptions.json],
    commands: [
      Command(
        "show", "Show the names and the expiration of the server's certificate",
        description: """
          The exit status is 1 if the certificate expires within 30 days, if clients refuse it (the server's \
          host is not among its names, or the authority that the settings name does not verify it), or if \
          the key that the settings name is not its key.
          """
      ) { arguments in
        let folder = try DataDirectory(opening: arguments.string("data"))
        let certificate = try folder.certificate()
        let lines = advice(certificate, folder, at: Int64(Date().timeIntervalSince1970))
        if arguments.isSet("json") {
          var object = json(certificate, folder)
          if !lines.isEmpty { object["advice"] = .array(lines.map { .string($0.description) }) }
          arguments.output.print(object)
        } else {
          arguments.output.print(fields: fields(certificate, folder), copying: ["Pin"])
          for line in lines { arguments.errorOutput.print(line) }
        }
        return lines.isEmpty ? .success : .failure
      },
      Command(
        "renew", "Create another certificate for the server, valid for 397 days",
        description: """
          It is for the host of "url" in server.json and for the names that the one before has, or, with \
          --san, for the host and those names alone; names that it no longer has are printed. The key stays \
          the same. A new authority issues it, because the key of the previous one was never stored. ca.pem \
          has the new authority first, and the previous ones whose certificates have not expired, 8 in all; \
          the command warns if one of those is left out: then send SIGHUP before you distribute ca.pem. The \
          server uses the certificate that it has until SIGHUP, or a restart: distribute ca.pem before. \
          Relying parties trust the new file in place of the old one. A device stores authority and pin at \
          its activation; its user runs signet trust, as this command prints it.

          After a change of "url" the server must be restarted; SIGHUP does not suffice. Devices, \
          authenticator apps and clients of OpenID Connect keep the URL that they were set up with: \
          activate, enrol and configure them anew.

          With --new-key the key is replaced too, for a key that is compromised: the new one is written to \
          new files, which server.json then names. When the server shows the new certificate, remove the old \
          files, and all but the first authority from ca.pem, and distribute that again, as this command \
          prints it: until then anyone with the old key is trusted. Activation codes that were created \
          before and not used name the old key: create them again.

          Certificates that were not issued by signet-server (paths in "tls" of server.json) are renewed at \
          their issuer.
          """,
        options: [
          .flag("new-key", "Replace the key too"),
          .value(
            "san", "A DNS name or IP address besides the host, in place of those that the certificate has",
            named: "name", isRepeatable: true),
        ],
        examples: [
          .init("signet-server certificate renew --data ./demo", "Renew the certificate of a server"),
          .init(
            "signet-server certificate renew --data ./demo --san demo.example.com --san 192.0.2.1",
            "Make one for the server's host, another name and an address, and for nothing else"),
        ]
      ) { arguments in
        let folder = try DataDirectory(opening: arguments.string("data"))
        let before = try folder.certificate()
        let names = try alternativeNames(arguments)
        let isAuthorityLeftOut = try folder.renewalLeavesOutAuthority()
        let renewed = try folder.renewingCertificate(
          for: arguments.isSet("san") ? names : nil, withNewKey: arguments.isSet("new-key"))
        let certificate = try renewed.certificate()
        let left = certificate.namesMissing(of: before)
        let formerPins = try ([before.pin] + renewed.formerPins()).reduce(into: [[UInt8]]()) { pins, pin in
          if pin != certificate.pin, !pins.contains(pin) { pins.append(pin) }
        }
        let lastStep = formerPins.isEmpty ? nil : distrustingFormerKeys(certificate, renewed)
        if arguments.isSet("json") {
          var object = json(certificate, renewed)
          object["previousPins"] = .array(formerPins.map { .string(Base64URL.encode($0)) })
          object["namesLeftOut"] = .array(left.map { .string($0) })
          var advice = isAuthorityLeftOut ? [authorityLeftOut] : []
          if let lastStep { advice.append("\(lastStep.text) \(lastStep.command)") }
          if !advice.isEmpty { object["advice"] = .array(advice.map { .string($0) }) }
          arguments.output.print(object)
          return .success
        }
        arguments.output.print(fields: fields(certificate, renewed), copying: ["Pin"])
        if !left.isEmpty {
          arguments.errorOutput.print(
            "It is no longer valid for \(left.joined(separator: ", ")): clients that use that name refuse the server."
          )
        }
        if isAuthorityLeftOut { arguments.errorOutput.print("\(ours: authorityLeftOut)") }
        let options = ([certificate.pin] + formerPins).map { " --pin \(Base64URL.encode($0))" }.joined()
        arguments.errorOutput.print(
          "1. Distribute \(shellWord("\(renewed.path)/ca.pem")): relying parties trust it, and the user of each device runs"
        )
        arguments.errorOutput.print("   \(command: "signet trust ca.pem\(options)")")
        if !formerPins.isEmpty {
          arguments.errorOutput.print(
            "   The first pin is of the present key, the others are of former keys. If a former key may be compromised, leave out its pin: devices then refuse the server until step 2."
          )
        }
        arguments.errorOutput.print(
          "2. Send SIGHUP to the server, or restart it: from then on it presents the new certificate.")
        if let lastStep {
          arguments.errorOutput.print("3. \(lastStep.text)")
          arguments.errorOutput.print("   \(command: lastStep.command)")
        }
        if certificate.pin != before.pin {
          arguments.errorOutput.print(
            "Activation codes that were created before and not used name the old key: create them again after step 2."
          )
        }
        let host = renewed.settings.serverURL.host
        if !before.isFor(host) {
          arguments.errorOutput.print(
            "The previous certificate was not for \(host). If \"url\" was changed to that, restart the server: SIGHUP does not suffice."
          )
          arguments.errorOutput.print(
            "Devices, authenticator apps and OpenID clients keep the URL that they were set up with: activate, enrol and configure them anew."
          )
        }
        return .success
      },
    ])

  /// Returns the names of `--san`, each of which must be allowed in a certificate.
  ///
  /// - Throws: ``UsageFailure``.
  static func alternativeNames(_ arguments: Arguments) throws -> [String] {
    let names = arguments.strings("san")
    for name in names where !FolderCertificate.canBe(for: name) {
      throw UsageFailure.refused(
        "--san must be a DNS name (*.example.com too) or an IP address")
    }
    guard names.count < CertificateAuthority.mostNames else {
      throw UsageFailure.refused(
        "--san may be given \(CertificateAuthority.mostNames - 1) times: the host is a name too")
    }
    return names
  }

  /// The warning if a renewal dropped an authority whose certificate a running server may still use.
  private static let authorityLeftOut =
    "ca.pem has at most \(DataDirectory.mostAuthorities) authorities: the oldest was left out, but its certificates have not expired. Send "
    + "SIGHUP to the server before you distribute ca.pem: clients with the new file refuse a server that still uses one of these."

  /// Returns the steps that end the trust in former keys, once the server uses another one.
  ///
  /// An attacker with a former key and its unexpired certificate can impersonate the server to all clients that trust its
  /// authority or pin.
  private static func distrustingFormerKeys(
    _ certificate: FolderCertificate, _ folder: DataDirectory
  ) -> (text: String, command: String) {
    let text =
      "When the server presents it, remove all but the first authority from \(shellWord("\(folder.path)/ca.pem")): clients that trust "
      + "the others also trust anyone with a former key. Distribute the file again: relying parties trust it, and the user of each device runs"
    return (text, "signet trust ca.pem --pin \(Base64URL.encode(certificate.pin))")
  }

  /// Returns the operator's next steps for a certificate.
  private static func advice(
    _ certificate: FolderCertificate, _ folder: DataDirectory, at time: Int64
  ) -> [TerminalText] {
    var advice: [TerminalText] = []
    let renewal: TerminalText =
      folder.isCertificateRenewedHere
      ? "renew it: \(renewing(folder))"
      : "it was not issued by signet-server: renew it at its issuer, and send SIGHUP to the server"
    if certificate.isEnding(at: time) {
      advice.append("It expires within 30 days, or has expired; \(renewal)")
    }
    let host = folder.settings.serverURL.host
    if !certificate.isFor(host) {
      advice.append("Clients refuse it: it is not for the server's host, \(host); \(renewal)")
    }
    if let refusal = certificate.authorityRefusal { advice.append("Clients refuse it: \(refusal)") }
    if let refusal = folder.keyRefusal {
      var line: TerminalText = "The server does not start with it: \(refusal.description)"
      if case .identityRefused = refusal {
        let step: TerminalText =
          folder.isCertificateRenewedHere
          ? "restore the key, or make both anew: \(renewing(folder, " --new-key"))"
          : "have \"tls.key\" of server.json name the file of its key"
        line = "\(line); \(step)"
      }
      advice.append(line)
    }
    return advice
  }

  private static func renewing(_ folder: DataDirectory, _ options: String = "") -> TerminalText {
    "\(command: "signet-server certificate renew --data \(shellWord(folder.path))\(options)")"
  }

  private static func fields(_ certificate: FolderCertificate, _ folder: DataDirectory) -> [(String, String)]
  {
    var fields = [
      ("For", certificate.names.joined(separator: ", ")), ("Until", utc(certificate.end)),
      ("Pin", Base64URL.encode(certificate.pin)),
      ("Certificate", path(folder.settings.tls.certificate, folder)),
    ]
    if let authority = folder.settings.tls.authority { fields.append(("Trust", path(authority, folder))) }
    return fields
  }

  private static func json(_ certificate: FolderCertificate, _ folder: DataDirectory) -> JSONObject {
    var object: JSONObject = [
      "names": .array(certificate.names.map { .string($0) }), "end": .integer(certificate.end),
      "pin": .string(Base64URL.encode(certificate.pin)),
      "certificate": .string(path(folder.settings.tls.certificate, folder)),
    ]
    if let authority = folder.settings.tls.authority {
      object["authority"] = .string(path(authority, folder))
    }
    return object
  }

  private static func path(_ name: String, _ folder: DataDirectory) -> String {
    name.hasPrefix("/") ? name : "\(folder.path)/\(name)"
  }
}
