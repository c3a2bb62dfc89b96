import SignetCrypto

/// Codes of the server's own over rows that it believes: who can write the database, and lacks the master key, makes up none.
///
/// A code covers all of a row that anything is decided by. What it cannot find out is a row that was put back as it was.
struct RowCodes: Sendable {
  private let key: HMACKey?

  /// Takes the key; without one rows have no codes, and none is asked for.
  init(key: HMACKey?) { self.key = key }

  /// The code of a row; `nil` without a key.
  func code(of row: RowImage) -> [UInt8]? { key?.authenticationCode(for: row.bytes) }

  /// Whether a row is as this server wrote it.
  func isOwn(_ row: RowImage, _ code: [UInt8]?) -> Bool {
    guard let key else { return true }
    guard let code else { return false }
    return key.isValid(code, for: row.bytes)
  }

  /// Takes what is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:)``.
  func check(_ row: RowImage, _ code: [UInt8]?, named name: String) throws(StorageFailure) {
    guard isOwn(row, code) else { throw .altered(row: name) }
  }
}

extension RowCodes {
  /// A transaction that neither UAF nor an authenticator app has answered, or one has.
  ///
  /// - Throws: ``StorageFailure/altered(row:)`` where it only looks so.
  func checked(_ transaction: TransactionRecord) throws(StorageFailure) -> TransactionRecord {
    let name = "\(transaction.id) of transactions"
    if let acceptance = transaction.uaf {
      try check(transaction.image(of: acceptance), acceptance.code, named: name)
    }
    if let answer = transaction.app { try check(transaction.image(of: answer), answer.code, named: name) }
    return transaction
  }

  /// As ``checked(_:)`` does, where there is one.
  func checked(_ transaction: TransactionRecord?) throws(StorageFailure) -> TransactionRecord? {
    guard let transaction else { return nil }
    let checked: TransactionRecord = try self.checked(transaction)
    return checked
  }
}

/// A row as bytes that no other row has: each value with its kind and its length.
struct RowImage {
  private(set) var bytes: [UInt8]

  /// Begins with the table.
  init(_ table: String) {
    bytes = []
    append(table)
  }

  mutating func append(_ text: String?) { append(kind: 1, text.map { Array($0.utf8) }) }

  mutating func append(_ blob: [UInt8]?) { append(kind: 2, blob) }

  mutating func append(_ number: (some FixedWidthInteger)?) {
    append(kind: 3, number.map { Self.bigEndian(Int64(clamping: $0)) })
  }

  private mutating func append(kind: UInt8, _ value: [UInt8]?) {
    guard let value else {
      bytes.append(0)
      return
    }
    bytes.append(kind)
    bytes += Self.bigEndian(Int64(value.count))
    bytes += value
  }

  private static func bigEndian(_ number: Int64) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> Int64($0)) }
  }
}

extension DeviceRecord {
  /// What its code covers: all of it.
  var image: RowImage {
    var image = RowImage("devices")
    image.append(id)
    image.append(user)
    image.append(installation)
    image.append(name)
    image.append(platform)
    image.append(created)
    image.append(standing.rawValue)
    image.append(isOrderedLocked ? 1 : 0)
    image.append(orderedReason)
    image.append(ordered)
    return image
  }
}

extension UAFCredentialRecord {
  /// What its code covers: all of it.
  var image: RowImage {
    var image = RowImage("uaf_credentials")
    image.append(aaid)
    image.append(keyID)
    image.append(user)
    image.append(publicKey)
    image.append(algorithm)
    image.append(keyFormat)
    image.append(signCounter)
    image.append(registrationCounter)
    image.append(authenticatorVersion)
    image.append(created)
    image.append(state.rawValue)
    image.append(device)
    image.append(modelProof.rawValue)
    image.append(keyProtection)
    return image
  }
}

extension UAFSessionRecord {
  /// What its code covers: all of it.
  var image: RowImage {
    var image = RowImage("uaf_sessions")
    image.append(id)
    image.append(operation)
    image.append(user)
    image.append(context)
    image.append(transaction)
    image.append(request)
    image.append(tokenDigest)
    image.append(tokenExpires)
    image.append(created)
    image.append(expires)
    image.append(dispatcher)
    image.append(target)
    image.append(sealedPayload)
    image.append(client)
    image.append(state.rawValue)
    image.append(end?.status)
    image.append(end?.asmStatus)
    image.append(end?.clientError)
    image.append(end?.authenticators)
    image.append(end?.time)
    return image
  }
}

extension UAFTargetRecord {
  /// What its code covers: all but what the device changes and the master key binds to the target already.
  var image: RowImage {
    var image = RowImage("uaf_targets")
    image.append(id)
    image.append(user)
    image.append(device)
    image.append(signatureKey)
    image.append(encryptionKey)
    image.append(created)
    return image
  }
}

extension TransactionRecord {
  /// What the code of an acceptance by UAF covers: who accepted what, by which operation and when.
  func image(of acceptance: UAFAcceptance) -> RowImage {
    var image = RowImage("transactions by uaf")
    image.append(id)
    image.append(user)
    image.append(content)
    image.append(acceptance.session)
    image.append(acceptance.time)
    return image
  }

  /// What the code of an answer by an authenticator app covers: who answered what and how, by which app and when.
  func image(of answer: AppAnswer) -> RowImage {
    var image = RowImage("transactions by app")
    image.append(id)
    image.append(user)
    image.append(content)
    image.append(state.rawValue)
    image.append(answer.mechanism)
    image.append(answer.message)
    image.append(answer.time)
    return image
  }
}
