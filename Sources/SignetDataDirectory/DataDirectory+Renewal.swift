import SignetCrypto
import SignetFiles
import SignetJSON
import SignetServer
package import SignetWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DataDirectory {
  /// Whether ``renewingCertificate(for:withNewKey:clock:)`` renews the certificate: its files and the authority's are in the folder.
  package var isCertificateRenewedHere: Bool {
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
  package func renewingCertificate(
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
    do throws(CryptoFailure) {
      kept = try Self.stillShown(of: trusted, at: clock.now).prefix(Self.mostAuthorities - 1).map(\.pem)
        .joined()
    } catch {
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

  /// Whether a renewal leaves out an authority of which a running server may still show a certificate: there are ``mostAuthorities``.
  ///
  /// - Parameter clock: Tells the time.
  /// - Returns: Whether it does.
  /// - Throws: ``DataDirectoryFailure`` where the file of authorities cannot be read.
  package func renewalLeavesOutAuthority(
    clock: any WallClock = SystemWallClock()
  ) throws(DataDirectoryFailure) -> Bool {
    guard isCertificateRenewedHere, let authority = settings.tls.authority, let trusted = try authorityPEM()
    else { return false }
    do throws(CryptoFailure) {
      return try Self.stillShown(of: trusted, at: clock.now).count >= Self.mostAuthorities
    } catch { throw .certificateUnreadable(path: file(authority), error) }
  }

  /// How many authorities the file that clients trust has at most after a renewal.
  package static let mostAuthorities = 8

  /// The authorities of a file that are to be kept beside a new one, as far as there is room.
  ///
  /// A running server may have read none of the certificates since: each authority is kept until no certificate that it issued is
  /// valid any more. The first one is that of the certificate which is replaced, whoever made it.
  private static func stillShown(of pem: String, at time: Int64) throws(CryptoFailure) -> [ListedAuthority] {
    let listed = try ListedAuthority.all(inPEM: pem)
    return listed.prefix(1) + listed.dropFirst().filter { lastEnd(of: $0) > time }
  }

  /// Until when a certificate of an authority can be valid: one that was made here has issued one, and others may go on.
  private static func lastEnd(of authority: ListedAuthority) -> Int64 {
    let days = Int64(CertificateAuthority.usualDays) * 86_400
    guard authority.end - authority.start == CertificateAuthority.backdating + days,
      authority.commonName?.hasPrefix("\(authorityPrefix) ") == true
    else { return authority.end }
    return authority.start + Int64(CertificateAuthority.usualServerDays) * 86_400
  }

  /// The pins of former keys that clients are still made to trust: of certificates in the folder that are valid, and of which the file of
  /// authorities has the authority.
  ///
  /// A key that another one took the place of stays here with its certificate, and a running server may show it until it reads the folder
  /// again, after however many renewals.
  ///
  /// - Parameter clock: Tells the time.
  /// - Returns: SHA-256 of each key, 32 bytes, the youngest first, without that of the present certificate.
  /// - Throws: ``DataDirectoryFailure`` where the file of authorities or the present certificate cannot be read.
  package func formerPins(clock: any WallClock = SystemWallClock()) throws(DataDirectoryFailure) -> [[UInt8]]
  {
    guard let authority = settings.tls.authority, let trusted = try authorityPEM() else { return [] }
    let anchors: TrustAnchors
    do throws(CryptoFailure) { anchors = try TrustAnchors(pem: trusted) } catch {
      throw .certificateUnreadable(path: file(authority), error)
    }
    let present = try certificate(clock: clock).pin
    var pins: [[UInt8]] = []
    for (name, _) in madeNames().reversed() {
      let pin: [UInt8]
      do {
        let content = try FolderFile("\(path)/\(name)", .plain).read()
        let pem = String(decoding: content.insecureCopy(), as: UTF8.self)
        _ = try anchors.check(pem: pem, at: clock.now)
        pin = try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: pem)
      } catch { continue }  // it is not there, or nobody who goes by the authorities trusts it
      if pin != present, !pins.contains(pin) { pins.append(pin) }
    }
    return pins
  }

  /// The word with which the names of authorities begin that are made for folders.
  static let authorityPrefix = "Signet"

  /// Names for another key and its certificate.
  private func unusedNames() -> (certificate: String, key: String) { Self.names(madeNames().count + 1) }

  /// The names of keys and certificates that were made here, of which some may be gone.
  private func madeNames() -> [(certificate: String, key: String)] {
    var names = [Self.names(1)]
    while true {
      let next = Self.names(names.count + 1)
      guard access("\(path)/\(next.certificate)", F_OK) == 0 || access("\(path)/\(next.key)", F_OK) == 0
      else {
        return names
      }
      names.append(next)
    }
  }

  private static func names(_ number: Int) -> (certificate: String, key: String) {
    let name = number == 1 ? "tls" : "tls-\(number)"
    return ("\(name).pem", "\(name).key")
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
