public import SignetCrypto
import SignetInterchange
import SignetOATH
import SignetVault

// Operations on enrolled accounts as a whole: one-time codes and push mechanism together.
extension Accounts {
  /// Deletes an account with its one-time codes, push mechanism and messages, even if it is locked.
  ///
  /// The server is not notified, because the protocol has no message for it.
  ///
  /// - Parameters:
  ///   - id: The account.
  ///   - password: The password of the accounts, if they have one.
  /// - Throws: ``SignetError/noSuchAccount``.
  public func removeEnrolled(
    _ id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetError) {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    let removed = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) -> [Account.ID]? in
        guard let group = try Self.groups(in: records).first(where: { $0.id == id }) else { return nil }
        for codes in group.record.codes {
          records.remove(AccountRecord.name(codes))
          records.remove(AccountRecord.counterName(codes))
        }
        if let push = group.record.push {
          records.remove(PushMechanismRecord.name(push))
          records.remove(PushMechanismRecord.inboxName(push))
        }
        records.remove(EnrolledAccountRecord.name(id))
        return group.record.members
      })
    guard let removed else { throw .noSuchAccount }
    for part in removed { try await removeState(of: part) }
  }

  /// Deletes the push mechanism of an account with its messages, even if it is locked; its one-time codes stay.
  ///
  /// The server is not notified, because the protocol has no message for it.
  ///
  /// - Parameters:
  ///   - id: The push mechanism.
  ///   - password: The password of the accounts, if they have one.
  /// - Throws: ``SignetError/noSuchAccount``.
  public func removePush(_ id: Account.ID, by password: SharedSecretBox? = nil) async throws(SignetError) {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    let existed = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        guard records.names.contains(PushMechanismRecord.name(id)) else { return false }
        records.remove(PushMechanismRecord.name(id))
        records.remove(PushMechanismRecord.inboxName(id))
        for (group, record) in try Self.groups(in: records) where record.push == id {
          var changed = record
          changed.push = nil
          if changed.hasParts(in: records) {
            try records.set(EnrolledAccountRecord.name(group), to: changed.bytes)
          } else {
            records.remove(EnrolledAccountRecord.name(group))
          }
        }
        return true
      })
    guard existed else { throw .noSuchAccount }
    try await removeState(of: id)
  }

  /// Changes the display names of an account and of its parts.
  ///
  /// The original names stay in ``EnrolledAccount/issuer`` and ``EnrolledAccount/name``. They identify the account if a
  /// URI for it is enrolled again.
  ///
  /// - Parameters:
  ///   - id: The account.
  ///   - issuer: The issuer for display; `nil` keeps the current one.
  ///   - name: The account name for display; `nil` keeps the current one.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The changed account.
  /// - Throws: ``SignetError``: `noSuchAccount`, `accountLocked`, `interchange` for an invalid text.
  public func renameEnrolled(
    _ id: Account.ID, issuer: String? = nil, name: String? = nil, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> EnrolledAccount {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    let before = try await vaulted(Self.groups(in: unlocked.openedRecords())).first { $0.id == id }
    for part in before?.record.members ?? [] { try await requireUnlocked(part) }
    let changed = try await vaulted(
      await device.vault.changeRecords(of: unlocked) {
        (records) throws(VaultFailure) -> Result<EnrolledAccount, SignetError> in
        guard var group = try Self.groups(in: records).first(where: { $0.id == id })?.record else {
          return .failure(.noSuchAccount)
        }
        let (shownIssuer, shownName) = (
          issuer ?? group.displayIssuer ?? group.issuer, name ?? group.displayName ?? group.name
        )
        (group.displayIssuer, group.displayName) = (shownIssuer, shownName)
        do throws(InterchangeFailure) {
          // The name rules of one-time code accounts apply to push mechanisms too.
          _ = try OTPAccount(
            issuer: shownIssuer, name: shownName, kind: .hotp(counter: 0),
            secret: SharedSecretBox(SecretBytes.random(byteCount: 16)))
        } catch { return .failure(.interchange(error)) }
        for codes in group.codes {
          guard let present = try Self.account(codes, in: records) else { continue }
          let renamed: OTPAccount
          do throws(InterchangeFailure) {
            renamed = try present.account.renamed(issuer: shownIssuer, name: shownName)
          } catch { return .failure(.interchange(error)) }
          let record = AccountRecord(renamed, isExportable: present.isExportable, imported: present.imported)
          try records.set(AccountRecord.name(codes), to: record.bytes)
        }
        if let push = group.push, var record = try Self.mechanism(push, in: records) {
          (record.issuer, record.name) = (shownIssuer, shownName)
          try records.set(PushMechanismRecord.name(push), to: record.bytes)
        }
        try records.set(EnrolledAccountRecord.name(id), to: group.bytes)
        return .success(try Self.enrolled(id, group, in: records))
      })
    return try changed.get()
  }
}

extension OTPAccount {
  /// Returns the same account with other names.
  ///
  /// - Throws: `InterchangeFailure` for an invalid text.
  func renamed(issuer: String?, name: String?) throws(InterchangeFailure) -> OTPAccount {
    try OTPAccount(
      issuer: issuer ?? self.issuer, name: name ?? self.name, kind: kind, algorithm: algorithm,
      digits: digits, hasCheckDigit: hasCheckDigit, secret: secret, image: image, foreign: foreign)
  }
}
