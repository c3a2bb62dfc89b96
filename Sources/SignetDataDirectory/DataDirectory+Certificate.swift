import SignetCrypto
import SignetHTTPServer
import SignetProtocol
package import SignetServer
package import SignetSystem

package struct FolderCertificate: Hashable, Sendable {
  package let names: [String]
  /// The last second of validity, in seconds since 1970-01-01T00:00:00Z.
  package let end: Int64
  /// SHA-256 of its SubjectPublicKeyInfo, 32 bytes.
  package let pin: [UInt8]
  /// Why the authority in the settings does not verify the certificate, with the remedy; `nil` if it does, or none is set.
  package let authorityRefusal: String?

  package init(names: [String], end: Int64, pin: [UInt8], authorityRefusal: String? = nil) {
    self.names = names
    self.end = end
    self.pin = pin
    self.authorityRefusal = authorityRefusal
  }

  /// Decides whether a certificate can contain a name: a DNS name, whose first label may be `*`, or an IP address.
  ///
  /// - Parameter name: The name; an IPv6 address may have brackets.
  /// - Returns: True if it can.
  package static func canBe(for name: String) -> Bool {
    let names = CertificateNames([name])
    return CertificateAuthority.canIssue(dnsNames: names.dnsNames, ipAddresses: names.ipAddresses)
  }

  /// True if the certificate should be renewed.
  package func isEnding(at time: Int64) -> Bool { time > end - CertificateWarning.notice }

  /// Decides whether the certificate is valid for a host (RFC 9525, section 6.3).
  ///
  /// One of its names must equal the host, or match it with `*` as the first label.
  ///
  /// - Parameter host: A DNS name, an IPv4 address, or an IPv6 address in brackets.
  /// - Returns: True if clients that connect to this host accept the certificate's names.
  package func isFor(_ host: String) -> Bool {
    let host = CertificateNames.comparable(host)
    let rest = host.drop { $0 != "." }
    return names.contains { name in
      let name = CertificateNames.comparable(name)
      return name == host || (name.hasPrefix("*.") && rest.count > 1 && name.dropFirst() == rest)
    }
  }

  /// Returns the names of another certificate that this one does not cover.
  ///
  /// - Parameter other: The other certificate.
  /// - Returns: Its uncovered names, in its order.
  package func namesMissing(of other: FolderCertificate) -> [String] {
    let present = Set(names.map(CertificateNames.comparable))
    return other.names.filter { !present.contains(CertificateNames.comparable($0)) }
  }
}

extension DataDirectory {
  /// Reads the server's certificate.
  ///
  /// - Parameter clock: The clock for the verification by the authority.
  /// - Throws: ``DataDirectoryFailure``.
  /// - Returns: The certificate.
  package func certificate(
    clock: any WallClock = SystemWallClock()
  ) throws(DataDirectoryFailure) -> FolderCertificate {
    try certificate(try certificatePEM(), clock)
  }

  /// Logs why clients reject the certificate.
  ///
  /// Either the authority does not verify it, or it is not valid for the host of the server's URL.
  package func check(_ certificate: FolderCertificate, sayingIn log: EventLog) {
    if let cause = certificate.authorityRefusal, let authority = settings.tls.authority {
      log.error(
        "certificate.otherAuthority",
        [
          "authority": file(authority), "cause": cause,
          "advice": "clients refuse the server until that is corrected and SIGHUP is sent to the server",
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

  /// Reads the certificate and its TLS identity from the same read of the files.
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
    // The authority is not to blame for an expired certificate, so verify at most at its last second.
    let refusal = try authorityRefusal(of: pem, at: min(clock.now, summary.end - 1))
    return FolderCertificate(
      names: CertificateNames(summary.dnsNames + summary.ipAddresses).all, end: summary.end, pin: pin,
      authorityRefusal: refusal)
  }

  /// Why the server cannot use the certificate with the key in the settings; `nil` if it can.
  package var keyRefusal: DataDirectoryFailure? {
    do throws(DataDirectoryFailure) {
      _ = try identity(certificateChain: certificatePEM())
      return nil
    } catch { return error }
  }

  /// Returns why the authority in the settings does not verify a chain, with the remedy; `nil` if it does, or none is set.
  private func authorityRefusal(of chain: String, at time: Int64) throws(DataDirectoryFailure) -> String? {
    guard let authority = settings.tls.authority else { return nil }
    let trusted: String
    do throws(DataDirectoryFailure) {
      guard let found = try authorityPEM() else { return nil }
      trusted = found
    } catch {
      // A missing file is an error in the settings. An unusable one affects only clients that rely on it.
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
    "set \"tls.authority\" in server.json to the file of the authority that issued it, or remove \"authority\" if clients already trust the issuer"
}
