import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetServer
package import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DataDirectory {
  /// True if ``renewingCertificate(for:withNewKey:clock:)`` can renew the certificate: the folder has its files and the
  /// authority's.
  package var isCertificateRenewedHere: Bool {
    guard let authority = settings.tls.authority else { return false }
    return ![settings.tls.certificate, settings.tls.key, authority].contains { $0.hasPrefix("/") }
  }

  /// Issues a new certificate for the host in the settings.
  ///
  /// A server uses it after it has read the folder again (``FolderReload``) or restarted. The key of the old authority was
  /// never stored, so a new authority issues the certificate.
  ///
  /// The file of authorities then lists the new one first, and after it earlier ones, ``mostAuthorities`` at most. An
  /// earlier one is kept while a running server may still use its certificate. A client that trusts this file therefore
  /// trusts the server before and after. If the process is killed at any moment, the folder is consistent, and clients that
  /// trust its authorities still trust the server.
  ///
  /// - Parameters:
  ///   - alternativeNames: DNS names and IP addresses in addition to the URL's host; `nil` for all names of the old
  ///     certificate.
  ///   - hasNewKey: True to generate a new key, in new files that `server.json` then names.
  ///   - clock: The clock.
  /// - Returns: The reopened folder.
  /// - Throws: ``DataDirectoryFailure``, above all ``DataDirectoryFailure/certificateOfOthers(path:)``.
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
    let retained: String
    do throws(CryptoFailure) {
      retained = try Self.retainedAuthorities(of: trusted, at: clock.now).prefix(Self.mostAuthorities - 1)
        .map(\.pem)
        .joined()
    } catch {
      throw .certificateUnreadable(path: file(authority), error)
    }
    // A key that will be replaced may be missing, or not match the certificate.
    let key = hasNewKey ? nil : SharedSecretBox(try read(files.key, .secret, of: "tls.key"))
    let renewal: (authority: String, certificate: String, key: SharedSecretBox?)
    do throws(CryptoFailure) {
      // A unique name, so that authorities are not confused; two can be created in the same second.
      let suffix = String(UInt64.random(in: 0 ... .max), radix: 36)
      let issuer = try CertificateAuthority(
        commonName: "\(String("\(Self.authorityPrefix) \(settings.serverURL.domain)".prefix(48))) \(suffix)",
        at: clock.now)
      if let key {
        let certificate = try key.withSecret { (key) throws(CryptoFailure) in
          try issuer.issueServerCertificate(
            privateKeyPEM: key, dnsNames: names.dnsNames, ipAddresses: names.ipAddresses, at: clock.now)
        }
        renewal = (try issuer.certificatePEM, certificate, nil)
      } else {
        let issued = try issuer.issueServerCertificate(
          dnsNames: names.dnsNames, ipAddresses: names.ipAddresses, at: clock.now)
        renewal = (try issuer.certificatePEM, issued.certificatePEM, issued.privateKeyPEM)
      }
    } catch { throw .certificate(error) }
    let authorities = SecretBytes(copying: Array((renewal.authority + retained).utf8))
    let certificate = SecretBytes(copying: Array(renewal.certificate.utf8))
    if let key = renewal.key {
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

  /// Decides whether a renewal drops an authority whose certificate a running server may still use.
  ///
  /// The file has ``mostAuthorities`` authorities in this case.
  ///
  /// - Parameter clock: The clock.
  /// - Returns: True if a renewal drops one.
  /// - Throws: ``DataDirectoryFailure`` if the file of authorities cannot be read.
  package func renewalLeavesOutAuthority(
    clock: any WallClock = SystemWallClock()
  ) throws(DataDirectoryFailure) -> Bool {
    guard isCertificateRenewedHere, let authority = settings.tls.authority, let trusted = try authorityPEM()
    else { return false }
    do throws(CryptoFailure) {
      return try Self.retainedAuthorities(of: trusted, at: clock.now).count >= Self.mostAuthorities
    } catch { throw .certificateUnreadable(path: file(authority), error) }
  }

  /// The maximum number of authorities in the file that clients trust, after a renewal.
  package static let mostAuthorities = 8

  /// Returns the authorities of a file to keep in addition to a new one, if there is room.
  ///
  /// A running server may not have loaded newer certificates: an authority is kept until all certificates that it issued
  /// have expired. The first authority, that of the replaced certificate, is always kept.
  private static func retainedAuthorities(of pem: String, at time: Int64) throws(CryptoFailure)
    -> [ListedAuthority]
  {
    let listed = try ListedAuthority.all(inPEM: pem)
    return listed.prefix(1) + listed.dropFirst().filter { lastEnd(of: $0) > time }
  }

  /// Returns the latest end of a certificate from an authority.
  ///
  /// An authority created here has issued one certificate with the usual lifetime; others may issue until their own end.
  private static func lastEnd(of authority: ListedAuthority) -> Int64 {
    let days = Int64(CertificateAuthority.usualDays) * 86_400
    guard authority.end - authority.start == CertificateAuthority.backdating + days,
      authority.commonName?.hasPrefix("\(authorityPrefix) ") == true
    else { return authority.end }
    return authority.start + Int64(CertificateAuthority.usualServerDays) * 86_400
  }

  /// Returns the pins of former keys that clients still need to trust.
  ///
  /// Each of these keys has a valid certificate in the folder, and the file of authorities contains its authority. A
  /// replaced key stays in the folder with its certificate. A running server may use it until it reads the folder again,
  /// even after several renewals.
  ///
  /// - Parameter clock: The clock.
  /// - Returns: SHA-256 of each key, 32 bytes, the newest first, without the present certificate's.
  /// - Throws: ``DataDirectoryFailure`` if the file of authorities or the present certificate cannot be read.
  package func formerPins(clock: any WallClock = SystemWallClock()) throws(DataDirectoryFailure) -> [[UInt8]]
  {
    guard let authority = settings.tls.authority, let trusted = try authorityPEM() else { return [] }
    let anchors: TrustAnchors
    do throws(CryptoFailure) { anchors = try TrustAnchors(pem: trusted) } catch {
      throw .certificateUnreadable(path: file(authority), error)
    }
    let present = try certificate(clock: clock).pin
    var pins: [[UInt8]] = []
    for (name, _) in generatedNames().reversed() {
      let pin: [UInt8]
      do {
        let content = try FolderFile("\(path)/\(name)", .plain).read()
        let pem = String(decoding: content.insecureCopy(), as: UTF8.self)
        _ = try anchors.check(pem: pem, at: clock.now)
        pin = try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: pem)
      } catch { continue }  // missing, or not trusted by the authorities
      if pin != present, !pins.contains(pin) { pins.append(pin) }
    }
    return pins
  }

  /// The first word in the names of authorities created for folders.
  static let authorityPrefix = "Signet"

  /// Returns unused file names for a key and its certificate.
  private func unusedNames() -> (certificate: String, key: String) { Self.names(generatedNames().count + 1) }

  /// Returns the file names of keys and certificates created here; some files may be missing.
  private func generatedNames() -> [(certificate: String, key: String)] {
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

  /// Makes `server.json` name other files: both change in this single step.
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
