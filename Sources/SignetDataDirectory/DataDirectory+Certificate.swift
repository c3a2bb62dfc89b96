import SignetCrypto
import SignetFiles
import SignetHTTP
import SignetJSON
public import SignetServer
public import SignetWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a server shows to who connects.
public struct FolderCertificate: Hashable, Sendable {
  /// The DNS names and IP addresses that it is for.
  public let names: [String]
  /// The last second in which it is valid, since 1970.
  public let end: Int64
  /// SHA-256 of its SubjectPublicKeyInfo, 32 bytes.
  public let pin: [UInt8]
  /// Why the authority of the settings does not verify it, and what to do; `nil` where it does, or none is named.
  public let authorityRefusal: String?

  package init(names: [String], end: Int64, pin: [UInt8], authorityRefusal: String? = nil) {
    (self.names, self.end, self.pin, self.authorityRefusal) = (names, end, pin, authorityRefusal)
  }

  /// Whether a certificate can be for a name besides the host: a DNS name, whose first label may be `*`, or an IP address.
  ///
  /// - Parameter name: The name; an IPv6 address may stand in brackets.
  /// - Returns: Whether one can.
  public static func canBe(for name: String) -> Bool {
    let names = CertificateNames([name])
    return CertificateAuthority.canIssue(dnsNames: names.dnsNames, ipAddresses: names.ipAddresses)
  }

  /// Whether it is time to renew it.
  public func isEnding(at time: Int64) -> Bool { time > end - CertificateWarning.notice }

  /// Whether it is for a host: one of its names is that host, or stands with `*` for its first label (RFC 9525, section 6.3).
  ///
  /// - Parameter host: A DNS name, an IPv4 address, or an IPv6 address in brackets.
  /// - Returns: Whether who connects to that host takes the certificate for the server's.
  public func isFor(_ host: String) -> Bool {
    let host = CertificateNames.comparable(host)
    let rest = host.drop { $0 != "." }
    return names.contains { name in
      let name = CertificateNames.comparable(name)
      return name == host || (name.hasPrefix("*.") && rest.count > 1 && name.dropFirst() == rest)
    }
  }

  /// The names of another certificate that this one is not for.
  ///
  /// - Parameter other: The other one.
  /// - Returns: Its names, in its order.
  public func namesMissing(of other: FolderCertificate) -> [String] {
    let present = Set(names.map(CertificateNames.comparable))
    return other.names.filter { !present.contains(CertificateNames.comparable($0)) }
  }
}

extension DataDirectory {
  /// What the server's certificate says.
  ///
  /// - Parameter clock: Tells the time at which the authority has to verify it.
  /// - Throws: ``DataDirectoryFailure``.
  /// - Returns: What it says.
  public func certificate(
    clock: any WallClock = SystemWallClock()
  ) throws(DataDirectoryFailure) -> FolderCertificate {
    try certificate(try certificatePEM(), clock)
  }

  /// Says in a log why clients refuse the certificate: the authority does not verify it, or it is for other hosts than the server's
  /// URL has.
  public func check(_ certificate: FolderCertificate, sayingIn log: EventLog) {
    if let cause = certificate.authorityRefusal, let authority = settings.tls.authority {
      log.error(
        "certificate.otherAuthority",
        [
          "authority": file(authority), "cause": cause,
          "advice": "clients refuse the server until that is set right and SIGHUP is sent to the server",
        ])
    }
    let host = settings.serverURL.host
    guard !certificate.isFor(host) else { return }
    let remedy =
      isCertificateRenewedHere
      ? "make one for this host (signet-server certificate renew)"
      : "get one for this host, name its files in \"tls\" of server.json"
    log.error(
      "certificate.otherHost",
      [
        "host": host, "names": certificate.names.joined(separator: ", "),
        "advice": "\(remedy), and send SIGHUP to the server",
      ])
  }

  /// What a certificate says, and the identity that it is with its key: of files that are read once.
  ///
  /// - Throws: ``DataDirectoryFailure``.
  func certificateAndIdentity(
    clock: any WallClock = SystemWallClock()
  ) throws(DataDirectoryFailure) -> (FolderCertificate, TLSIdentity) {
    let pem = try certificatePEM()
    return (try certificate(pem, clock), try identity(certificateChain: pem))
  }

  private func certificate(
    _ pem: String, _ clock: any WallClock
  ) throws(DataDirectoryFailure) -> FolderCertificate {
    let summary: CertificateSummary
    let pin: [UInt8]
    do throws(CryptoFailure) {
      summary = try CertificateSummary(pem: pem)
      pin = try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: pem)
    } catch { throw .certificateUnreadable(path: file(settings.tls.certificate), error) }
    // That it has ended is no fault of the authority's.
    let refusal = try authorityRefusal(of: pem, at: min(clock.now, summary.end - 1))
    return FolderCertificate(
      names: CertificateNames(summary.dnsNames + summary.ipAddresses).all, end: summary.end, pin: pin,
      authorityRefusal: refusal)
  }

  /// Why a server cannot show the certificate with the key of the settings; `nil` where it can.
  public var keyRefusal: DataDirectoryFailure? {
    do throws(DataDirectoryFailure) {
      _ = try identity(certificateChain: certificatePEM())
      return nil
    } catch { return error }
  }

  /// Why the authority of the settings does not verify a chain, and what to do; `nil` where it does, or none is named.
  private func authorityRefusal(of chain: String, at time: Int64) throws(DataDirectoryFailure) -> String? {
    guard let authority = settings.tls.authority else { return nil }
    let trusted: String
    do throws(DataDirectoryFailure) {
      guard let found = try authorityPEM() else { return nil }
      trusted = found
    } catch {
      // A file that is not there is a mistake in the settings; one that cannot be used refuses nobody but clients that go by it.
      if case .fileOfSetting = error { throw error }
      return error.description
    }
    let anchors: TrustAnchors
    do throws(CryptoFailure) { anchors = try TrustAnchors(pem: trusted) } catch {
      return "\(file(authority)): \(error); \(Self.remedyOfOtherAuthority)"
    }
    do throws(TrustAnchors.Refusal) {
      _ = try anchors.check(pem: chain, at: time)
      return nil
    } catch { return "\(file(authority)) does not verify it (\(error)); \(Self.remedyOfOtherAuthority)" }
  }

  private static let remedyOfOtherAuthority =
    "have \"tls.authority\" of server.json name the file of the authority that issued it, or take \"authority\" out where clients trust the issuer already"

  /// Whether ``renewingCertificate(for:withNewKey:clock:)`` renews the certificate: its files and the authority's are in the folder.
  public var isCertificateRenewedHere: Bool {
    guard let authority = settings.tls.authority else { return false }
    return ![settings.tls.certificate, settings.tls.key, authority].contains { $0.hasPrefix("/") }
  }

  /// Makes another certificate for the host of the settings, which a server shows once it reads the folder again (``FolderReload``) or is
  /// started again.
  ///
  /// The key of the authority was never stored, so another authority issues it. The file of authorities has the new one from then
  /// on, first, and those before whose certificates a running server may still show, ``mostAuthorities`` at most: who trusts that file
  /// trusts the server before and after. Whatever moment this is cut off at, the folder is whole, and what its server shows is
  /// trusted by who trusts its authorities.
  ///
  /// - Parameters:
  ///   - alternativeNames: DNS names and IP addresses besides the URL's host; `nil` for all names of the certificate before.
  ///   - hasNewKey: Whether it gets another key; that goes to new files, which `server.json` names from then on.
  ///   - clock: Tells the time.
  /// - Returns: The folder, opened again.
  /// - Throws: ``DataDirectoryFailure``: above all ``DataDirectoryFailure/certificateOfOthers(path:)``.
  public func renewingCertificate(
    for alternativeNames: [String]? = nil, withNewKey hasNewKey: Bool = false,
    clock: any WallClock = SystemWallClock()
  ) throws(DataDirectoryFailure) -> DataDirectory {
    let files = settings.tls
    guard isCertificateRenewedHere, let authority = files.authority, let trusted = try authorityPEM() else {
      throw .certificateOfOthers(path: "\(path)/\(Self.settingsName)")
    }
    let others = if let alternativeNames { alternativeNames } else { try certificate(clock: clock).names }
    let names = CertificateNames([settings.serverURL.host] + others)
    let kept: String
    do throws(CryptoFailure) { kept = try Self.stillShown(of: trusted, at: clock.now) } catch {
      throw .certificateUnreadable(path: file(authority), error)
    }
    // One that another key takes the place of may be missing, or belong to something else.
    let key = hasNewKey ? nil : SharedSecretBox(try read(files.key, .secret, of: "tls.key"))
    let made: (authority: String, certificate: String, key: SharedSecretBox?)
    do throws(CryptoFailure) {
      // A name that no other has, so that nobody takes one for the other; two may be made in one second.
      let suffix = String(UInt64.random(in: 0 ... .max), radix: 36)
      let issuer = try CertificateAuthority(
        commonName: "\(String("\(Self.authorityPrefix) \(settings.serverURL.domain)".prefix(48))) \(suffix)",
        at: clock.now)
      if let key {
        let certificate = try key.withSecret { (key) throws(CryptoFailure) in
          try issuer.issueServerCertificate(
            privateKeyPEM: key, dnsNames: names.dnsNames, ipAddresses: names.ipAddresses, at: clock.now)
        }
        made = (try issuer.certificatePEM, certificate, nil)
      } else {
        let issued = try issuer.issueServerCertificate(
          dnsNames: names.dnsNames, ipAddresses: names.ipAddresses, at: clock.now)
        made = (try issuer.certificatePEM, issued.certificatePEM, issued.privateKeyPEM)
      }
    } catch { throw .certificate(error) }
    let authorities = SecretBytes(copying: Array((made.authority + kept).utf8))
    let certificate = SecretBytes(copying: Array(made.certificate.utf8))
    if let key = made.key {
      let names = unusedNames()
      try key.withSecret { (secret) throws(DataDirectoryFailure) in
        try FolderFile("\(path)/\(names.key)", .secret).create(secret)
      }
      try FolderFile("\(path)/\(names.certificate)", .secret).create(certificate)
      try FolderFile("\(path)/\(authority)", .plain).replace(authorities)
      try nameFiles(names)
    } else {
      try FolderFile("\(path)/\(authority)", .plain).replace(authorities)
      try FolderFile("\(path)/\(files.certificate)", .plain).replace(certificate)
    }
    return try DataDirectory(opening: path)
  }

  /// How many authorities the file that clients trust has at most after a renewal.
  static let mostAuthorities = 8

  /// The authorities of a file that are kept beside a new one.
  ///
  /// A running server may have read none of the certificates since: each authority is kept until no certificate that it issued is
  /// valid any more. The first one is that of the certificate which is replaced, whoever made it.
  private static func stillShown(of pem: String, at time: Int64) throws(CryptoFailure) -> String {
    let listed = try ListedAuthority.all(inPEM: pem)
    let kept = listed.prefix(1) + listed.dropFirst().filter { lastEnd(of: $0) > time }
    return kept.prefix(mostAuthorities - 1).map(\.pem).joined()
  }

  /// Until when a certificate of an authority can be valid: one that was made here has issued one, and others may go on.
  private static func lastEnd(of authority: ListedAuthority) -> Int64 {
    let days = Int64(CertificateAuthority.usualDays) * 86_400
    guard authority.end - authority.start == CertificateAuthority.backdating + days,
      authority.commonName?.hasPrefix("\(authorityPrefix) ") == true
    else { return authority.end }
    return authority.start + Int64(CertificateAuthority.usualServerDays) * 86_400
  }

  /// The word with which the names of authorities begin that are made for folders.
  static let authorityPrefix = "Signet"

  /// Names for another key and its certificate.
  private func unusedNames() -> (certificate: String, key: String) {
    var number = 2
    while access("\(path)/tls-\(number).pem", F_OK) == 0 || access("\(path)/tls-\(number).key", F_OK) == 0 {
      number += 1
    }
    return ("tls-\(number).pem", "tls-\(number).key")
  }

  /// Has `server.json` name other files: the one step by which both change at once.
  private func nameFiles(_ names: (certificate: String, key: String)) throws(DataDirectoryFailure) {
    let settingsFile = FolderFile("\(path)/\(Self.settingsName)", .plain)
    let text = try settingsFile.read()
    var object: JSONObject
    do throws(JSONFailure) {
      object = try JSONObject(parsing: text.insecureCopy())
      var tls = try object.object("tls")
      tls["certificate"] = .string(names.certificate)
      tls["key"] = .string(names.key)
      object["tls"] = .object(tls)
    } catch { throw .settings(path: settingsFile.path, reason: error.description) }
    try settingsFile.replace(SecretBytes(copying: object.bytes(.pretty) + [0x0A]))
  }
}
