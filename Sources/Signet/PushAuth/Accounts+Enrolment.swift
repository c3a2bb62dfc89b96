import SignetCrypto
import SignetHTTPClient
public import SignetInterchange
import SignetJSON
import SignetOATH
import SignetPolicy
public import SignetPushAuth
import SignetSystem
import SignetVault

extension Accounts {
  /// Enrols an account from a URI with all its parts: one-time codes, a push mechanism, or both; all parts are stored or none.
  ///
  /// The device must comply with the policies of the URI, now and at each later use of a part.
  ///
  /// A push mechanism is first registered with its server; the parts are stored only after the server accepts it. An existing part
  /// is never replaced. An account of the same issuer and name receives the missing parts and policies and keeps its own policies
  /// on a conflict. After a failure or an interruption, the same URI may be tried again. A server accepts the data of a URI once.
  /// If it already has, the device instead sends an update of the push token, which the server accepts from a known device.
  ///
  /// - Parameters:
  ///   - uri: A URI of the scheme `otpauth`, `pushauth` or `mfauth`.
  ///   - target: The push token of this device; `nil` for the one that ``setPushDevice(_:by:)`` stored.
  ///   - isExportable: True if the secret of the one-time codes may be exported from this device.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The account.
  /// - Throws: ``SignetError``: `accountPolicy`, `accountPolicyBroken`, `alreadyEnrolled`, `accountLocked`, `pushAuth`,
  ///   `pushAuthRefused`, `interchange`, `transport`.
  public func enrol(
    _ uri: AuthenticatorURI, from target: PushAuthDevice? = nil, exportable isExportable: Bool = true,
    by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> Enrolment {
    try Self.requireBothParts(of: uri)
    let codes = try uri.oath.map { (parameters) throws(SignetError) in try Self.codes(uri, parameters) }
    let policies = try Self.policies(uri.policies)
    try await device.requireCompliance(with: policies)
    let unlocked = try await openOrCreate(by: password)
    let now = device.clock.now
    let before = try await vaulted(unlocked.openedRecords())
    // Checked before any request to the server.
    if let failure = try await vaulted(Self.refusal(uri, codes, in: before)) { throw failure }
    let joined = try await vaulted(Self.joined(uri, in: before))
    try await requireUnlocked(joined.members)
    // Each set of policies is within the size limit, but both together may exceed it.
    let all = try Self.policies(EnrolledAccountRecord.merged(joined.policies, uri.policies).policies)
    var attempt = EnrolmentAttempt(of: uri, from: device.random, at: now)
    var push: PushMechanismRecord?
    if let parameters = uri.push {
      var record = try Self.push(uri, parameters, attempt.push, now)
      let stored = try await vaulted(Self.pushDevice(in: before))
      guard let target = target ?? stored else { throw .pushAuth(.missing("device token")) }
      let isRepeated: Bool
      (attempt, isRepeated) = try await begin(attempt, in: unlocked)
      record.mechanismID = attempt.push.uuid
      record.isLive = target.service == PushAuthDevice.live
      do throws(SignetError) {
        try await register(record, parameters, target, isRepeated: isRepeated)
      } catch {
        // A server that rejected the request has registered nothing; after any other failure it may have.
        if error.isRefusalOfServer { try await abandon(attempt, in: unlocked) }
        throw error
      }
      push = record
    } else if !all.isEmpty {
      (attempt, _) = try await begin(attempt, in: unlocked)
    }
    let (parts, groupID) = (attempt, Account.ID(from: device.random))
    // The policies are stored before the parts, so no part exists without them. If this call is interrupted, existing
    // parts keep the additional policies, which is the strict outcome.
    let new = (codes == nil ? [] : [parts.codes]) + (push == nil ? [] : [parts.push])
    if !all.isEmpty { try await merge(all, into: new + joined.members) }
    let result = try await vaulted(
      await device.vault.changeRecords(of: unlocked) {
        (records) throws(VaultFailure) -> Result<Enrolment, SignetError> in
        // Another process may have enrolled the same URI in the meantime.
        if let failure = try Self.refusal(uri, codes, in: records) { return .failure(failure) }
        try Self.removeEmptyGroups(in: &records)
        let found = try Self.group(uri.issuer, uri.account, in: records)
        var group =
          found?.record ?? EnrolledAccountRecord(issuer: uri.issuer, name: uri.account, created: now)
        let conflicts = group.merge(
          policies: uri.policies, image: uri.image, backgroundColor: uri.backgroundColor)
        do throws(SignetError) { _ = try Self.policies(group.policies) } catch { return .failure(error) }
        if found == nil { group.codes = try Self.ungrouped(uri.issuer, uri.account, in: records) }
        if let codes {
          let record = AccountRecord(codes, isExportable: isExportable, imported: now)
          try records.set(AccountRecord.name(parts.codes), to: record.bytes)
          if let counter = codes.kind.counter {
            try records.set(AccountRecord.counterName(parts.codes), to: SecretBytes(counter: counter))
          }
          group.codes.append(parts.codes)
        }
        if let push {
          try records.set(PushMechanismRecord.name(parts.push), to: push.bytes)
          group.push = parts.push
          // With a live target, other servers keep sending pushes to their registered token.
          if let target, target.service != PushAuthDevice.live {
            try Self.setPushDevice(target, in: &records, knownTo: parts.push)
          }
        }
        let groupName = found?.id ?? groupID
        try records.set(EnrolledAccountRecord.name(groupName), to: group.bytes)
        // Removed in the same transaction that stores the parts.
        records.remove(parts.recordName)
        return .success(
          Enrolment(
            account: try Self.enrolled(groupName, group, in: records), wasThere: found != nil,
            policyConflicts: conflicts))
      })
    do throws(SignetError) {
      let enrolment = try result.get()
      // Another process may have added to the same account in the meantime, with other policies.
      let members = enrolment.account.codes.map(\.id) + (enrolment.account.push.map { [$0.id] } ?? [])
      if let all = try await self.policies(of: enrolment.account.id, by: password) {
        try await merge(Self.policies(parsing: all), into: members)
      }
      // Another process may also have locked the account in the meantime.
      try await shareLock(among: members)
      return enrolment
    } catch {
      if case .failure = result { try await abandon(attempt, in: unlocked) }
      throw error
    }
  }

  /// Returns the enrolled accounts, oldest first.
  ///
  /// - Parameter password: The password of the accounts, if they have one.
  /// - Returns: The accounts. Imported accounts that were never enrolled are in ``list(by:)`` only.
  /// - Throws: ``SignetError``.
  public func enrolled(by password: SharedSecretBox? = nil) async throws(SignetError) -> [EnrolledAccount] {
    guard let records = try await opened(by: password) else { return [] }
    return try await vaulted(
      Self.groups(in: records).map { group throws(VaultFailure) in
        try Self.enrolled(group.id, group.record, in: records)
      }
    )
    .filter { !$0.codes.isEmpty || $0.push != nil }
    .sorted { ($0.created, $0.id.description) < ($1.created, $1.id.description) }
  }

  /// Returns the policies of an enrolled account in their original form.
  ///
  /// - Parameters:
  ///   - id: The account.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: A JSON object in UTF-8; `nil` for none.
  /// - Throws: ``SignetError/noSuchAccount``.
  public func policies(
    of id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> [UInt8]? {
    guard let records = try await opened(by: password),
      let found = try await vaulted(Self.groups(in: records)).first(where: { $0.id == id })
    else { throw .noSuchAccount }
    return found.record.policies?.bytes
  }

  // MARK: Parts

  private static func policies(_ object: JSONObject?) throws(SignetError) -> AccountPolicySet {
    guard let object else { return AccountPolicySet() }
    do throws(AccountPolicyFailure) { return try AccountPolicySet(object) } catch {
      throw .accountPolicy(error)
    }
  }

  private static func policies(parsing bytes: [UInt8]) throws(SignetError) -> AccountPolicySet {
    do throws(AccountPolicyFailure) { return try AccountPolicySet(parsing: bytes) } catch {
      throw .accountPolicy(error)
    }
  }

  /// Rejects a combined URI (`mfauth`) that lacks one half.
  private static func requireBothParts(of uri: AuthenticatorURI) throws(SignetError) {
    guard uri.scheme == .mfauth else { return }
    if uri.oath == nil { throw .interchange(.missing("secret")) }
    if uri.push == nil { throw .interchange(.missing("r (endpoint)")) }
  }

  private static func codes(
    _ uri: AuthenticatorURI, _ parameters: AuthenticatorURI.OATH
  ) throws(SignetError) -> OTPAccount {
    do throws(InterchangeFailure) {
      return try OTPAccount(
        issuer: uri.issuer, name: uri.account, kind: parameters.kind, algorithm: parameters.algorithm,
        digits: parameters.digits, secret: parameters.secret, image: uri.image)
    } catch { throw .interchange(error) }
  }

  private static func push(
    _ uri: AuthenticatorURI, _ parameters: AuthenticatorURI.Push, _ id: Account.ID, _ now: Int64
  ) throws(SignetError) -> PushMechanismRecord {
    do throws(PushAuthFailure) {
      guard parameters.messageID != nil else { throw .missing("m (message id)") }
      guard parameters.challenge?.isEmpty == false else { throw .missing("c (challenge)") }
      _ = try parameters.sharedSecret.withSecret { (secret) throws(PushAuthFailure) in
        try PushAuthKey(secret, atLeast: PushAuthKey.shortestEnrolledByteCount)
      }
      return PushMechanismRecord(
        mechanismID: id.uuid, issuer: uri.issuer, name: uri.account,
        endpoints: try PushAuthEndpoints(
          registration: parameters.registrationEndpoint, authentication: parameters.authenticationEndpoint),
        loadBalancer: parameters.loadBalancer, userID: uri.userID, created: now,
        secret: parameters.sharedSecret)
    } catch { throw .pushAuth(error) }
  }

  /// The reason to reject a URI because one of its parts is already enrolled; `nil` if none is.
  private static func refusal(
    _ uri: AuthenticatorURI, _ codes: OTPAccount?, in records: OpenRecords
  ) throws(VaultFailure) -> SignetError? {
    let group = try group(uri.issuer, uri.account, in: records)
    if uri.push != nil, let push = group?.record.push, records.names.contains(PushMechanismRecord.name(push))
    {
      return .alreadyEnrolled(
        "push messages of \(OTPAccount.title(uri.issuer, uri.account))", account: group?.id ?? push)
    }
    guard let codes else { return nil }
    let members: [Account.ID]
    if let group {
      members = group.record.codes
    } else {
      members = try ungrouped(uri.issuer, uri.account, in: records)
    }
    for (id, record) in try accounts(in: records) {
      let isSameKind = members.contains(id) && record.account.kind.isTimed == codes.kind.isTimed
      if isSameKind || record.account.makesSameCodes(as: codes) {
        // The enrolled account that contains the codes, because it is listed and removed as a whole.
        let enrolledID = try groups(in: records).first { $0.record.codes.contains(id) }?.id
        return .alreadyEnrolled("one-time codes of \(record.account)", account: enrolledID ?? id)
      }
    }
    return nil
  }

  /// The policies and parts of the existing account that a URI adds to.
  private static func joined(
    _ uri: AuthenticatorURI, in records: OpenRecords
  ) throws(VaultFailure) -> (policies: JSONObject?, members: [Account.ID]) {
    guard let found = try group(uri.issuer, uri.account, in: records) else {
      return (nil, try ungrouped(uri.issuer, uri.account, in: records))
    }
    let names = Set(records.names)
    let members = found.record.members.filter {
      names.contains(AccountRecord.name($0)) || names.contains(PushMechanismRecord.name($0))
    }
    return (found.record.policies, members)
  }

  /// Removes the records of enrolled accounts without any part left, so that a new enrolment does not inherit from them.
  private static func removeEmptyGroups(in records: inout OpenRecords) throws(VaultFailure) {
    for (id, record) in try groups(in: records) where !record.hasParts(in: records) {
      records.remove(EnrolledAccountRecord.name(id))
    }
  }

  static func groups(
    in records: OpenRecords
  ) throws(VaultFailure) -> [(id: Account.ID, record: EnrolledAccountRecord)] {
    var found: [(id: Account.ID, record: EnrolledAccountRecord)] = []
    for name in records.names {
      guard let id = EnrolledAccountRecord.id(ofRecord: name), let secret = try records.secret(name) else {
        continue
      }
      found.append((id, try EnrolledAccountRecord(secret)))
    }
    return found
  }

  /// Finds the account of exactly this issuer and name; they are compared separately, byte by byte.
  private static func group(
    _ issuer: String, _ name: String, in records: OpenRecords
  ) throws(VaultFailure) -> (id: Account.ID, record: EnrolledAccountRecord)? {
    try groups(in: records).first {
      $0.record.issuer.hasSameBytes(as: issuer) && $0.record.name.hasSameBytes(as: name)
        && $0.record.hasParts(in: records)
    }
  }

  /// Finds imported accounts of this issuer and name that belong to no enrolled account.
  private static func ungrouped(
    _ issuer: String, _ name: String, in records: OpenRecords
  ) throws(VaultFailure) -> [Account.ID] {
    let grouped = Set(try groups(in: records).flatMap(\.record.codes))
    return try accounts(in: records).filter {
      !grouped.contains($0.id) && $0.record.account.issuer.hasSameBytes(as: issuer)
        && $0.record.account.name.hasSameBytes(as: name)
    }.map(\.id)
  }

  static func enrolled(
    _ id: Account.ID, _ record: EnrolledAccountRecord, in records: OpenRecords
  ) throws(VaultFailure) -> EnrolledAccount {
    var codes: [Account] = []
    for member in record.codes {
      if let found = try account(member, in: records) { codes.append(Account(found, member)) }
    }
    let push = try record.push.flatMap { (id) throws(VaultFailure) in
      try mechanism(id, in: records).map { (record) throws(VaultFailure) in
        try PushMechanism(record, id, in: records)
      }
    }
    return EnrolledAccount(
      id: id, issuer: record.issuer, name: record.name, displayIssuer: record.displayIssuer ?? record.issuer,
      displayName: record.displayName ?? record.name, image: record.image,
      backgroundColor: record.backgroundColor,
      policyNames: record.policies?.members.map(\.name).sorted() ?? [], created: record.created,
      codes: codes, push: push)
  }

  static func mechanism(
    _ id: Account.ID, in records: OpenRecords
  ) throws(VaultFailure) -> PushMechanismRecord? {
    guard let secret = try records.secret(PushMechanismRecord.name(id)) else { return nil }
    return try PushMechanismRecord(secret)
  }

  static func mechanisms(
    in records: OpenRecords
  ) throws(VaultFailure) -> [(id: Account.ID, record: PushMechanismRecord)] {
    var found: [(id: Account.ID, record: PushMechanismRecord)] = []
    for name in records.names {
      guard let id = PushMechanismRecord.id(ofRecord: name), let record = try mechanism(id, in: records)
      else {
        continue
      }
      found.append((id, record))
    }
    return found.sorted { ($0.record.created, $0.id.description) < ($1.record.created, $1.id.description) }
  }
}

extension Account.ID {
  /// The ID in the form of a UUID, which servers of the push protocol expect.
  var uuid: String {
    let text = Array(description.uppercased())
    let ends = [8, 12, 16, 20, 32]
    return zip([0] + ends, ends).map { String(text[$0..<$1]) }.joined(separator: "-")
  }
}

extension OTPAccount {
  fileprivate static func title(_ issuer: String, _ name: String) -> String {
    issuer.isEmpty ? name : name.isEmpty ? issuer : "\(issuer) (\(name))"
  }
}

extension OTPAccount.Kind {
  fileprivate var isTimed: Bool {
    if case .totp = self { return true }
    return false
  }
}
