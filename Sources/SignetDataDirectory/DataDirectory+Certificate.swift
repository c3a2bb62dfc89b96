import SignetCrypto
import SignetHTTP
package import SignetServer
package import SignetWire

/// What a server shows to who connects.
package struct FolderCertificate: Hashable, Sendable {
  /// The DNS names and IP addresses that it is for.
  package let names: [String]
  /// The last second in which it is valid, since 1970.
  package let end: Int64
  /// SHA-256 of its SubjectPublicKeyInfo, 32 bytes.
  package let pin: [UInt8]
  /// Why the authority of the settings does not verify it, and what to do; `nil` where it does, or none is named.
  package let authorityRefusal: String?

  package init(names: [String], end: Int64, pin: [UInt8], authorityRefusal: String? = nil) {
    (self.names, self.end, self.pin, self.authorityRefusal) = (names, end, pin, authorityRefusal)
  }

  /// Whether a certificate can be for a name besides the host: a DNS name, whose first label may be `*`, or an IP address.
  ///
  /// - Parameter name: The name; an IPv6 address may stand in brackets.
  /// - Returns: Whether one can.
  package static func canBe(for name: String) -> Bool {
    let names = CertificateNames([name])
    return CertificateAuthority.canIssue(dnsNames: names.dnsNames, ipAddresses: names.ipAddresses)
  }

  /// Whether it is time to renew it.
  package func isEnding(at time: Int64) -> Bool { time > end - CertificateWarning.notice }

  /// Whether it is for a host: one of its names is that host, or stands with `*` for its first label (RFC 9525, section 6.3).
  ///
  /// - Parameter host: A DNS name, an IPv4 address, or an IPv6 address in brackets.
  /// - Returns: Whether who connects to that host takes the certificate for the server's.
  package func isFor(_ host: String) -> Bool {
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
  package func namesMissing(of other: FolderCertificate) -> [String] {
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
  package func certificate(
    clock: any WallClock = SystemWallClock()
  ) throws(DataDirectoryFailure) -> FolderCertificate {
    try certificate(try certificatePEM(), clock)
  }

  /// Says in a log why clients refuse the certificate: the authority does not verify it, or it is for other hosts than the server's
  /// URL has.
  package func check(_ certificate: FolderCertificate, sayingIn log: EventLog) {
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
  package var keyRefusal: DataDirectoryFailure? {
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
}
