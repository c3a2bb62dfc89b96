#if os(Linux)
  /// A blob that is stored outside the TPM, in version 1.
  ///
  /// The content is untrusted.
  ///
  /// | bytes | field |
  /// |---|---|
  /// | 4 | `SGTP` |
  /// | 1 | version: 1 |
  /// | 1 | kind: 1 sealed, 2 signing key, 3 guess-limited, 4 counter, 5 planned index for 3 |
  /// | 34 | 1 to 3: Name of the storage key that the object was made under |
  /// | 4, 32 | 3 to 5: handle and salt of the index |
  /// | 32 | 3: SHA-256 of the context |
  /// | 32 | 4: authorization value of the index |
  /// | 32 or 64 | 1 and 3: `unique` of the public part; 2: X and Y of the public key |
  /// | … | 1 to 3: the private part, encrypted by the TPM, at most 1024 bytes |
  package enum TPMBlob: Equatable {
    case sealed(TPMObject)
    case signingKey(TPMObject)
    case guessLimited(TPMObject, IndexPlan, contextDigest: [UInt8])
    case counter(IndexPlan, authorization: [UInt8])
    case plannedIndex(IndexPlan)

    package struct TPMObject: Equatable {
      let parentName: [UInt8]
      package let unique: [UInt8]
      package let privatePart: [UInt8]
    }

    /// The index that is removed when the blob is discarded.
    package var index: IndexPlan? {
      switch self {
      case .sealed, .signingKey: nil
      case .guessLimited(_, let index, _), .counter(let index, _), .plannedIndex(let index): index
      }
    }

    private static let magic: [UInt8] = Array("SGTP".utf8)
    private static let largestPrivatePart = 1024

    package var bytes: [UInt8] {
      switch self {
      case .sealed(let object): Self.magic + [1, 1] + object.parentName + object.unique + object.privatePart
      case .signingKey(let object):
        Self.magic + [1, 2] + object.parentName + object.unique + object.privatePart
      case .guessLimited(let object, let index, let contextDigest):
        Self.magic + [1, 3] + object.parentName + index.handle.bigEndianBytes + index.salt + contextDigest
          + object.unique + object.privatePart
      case .counter(let index, let authorization):
        Self.magic + [1, 4] + index.handle.bigEndianBytes + index.salt + authorization
      case .plannedIndex(let index): Self.magic + [1, 5] + index.handle.bigEndianBytes + index.salt
      }
    }

    /// Parses a blob; returns `nil` if the bytes are invalid.
    package init?(_ bytes: [UInt8]) {
      var rest = bytes[...]
      func read(_ count: Int) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
      }
      func readIndex(_ role: IndexPlan.Role) -> IndexPlan? {
        guard let number = read(4), let handle = TPMFrame.number(number, 0),
          IndexPlan.handles.contains(handle),
          let salt = read(IndexPlan.saltByteCount)
        else { return nil }
        return IndexPlan(handle: handle, role: role, salt: salt)
      }
      func readObject(_ parentName: [UInt8], uniqueByteCount: Int) -> TPMObject? {
        guard let unique = read(uniqueByteCount), (1...Self.largestPrivatePart).contains(rest.count) else {
          return nil
        }
        return TPMObject(parentName: parentName, unique: unique, privatePart: Array(rest))
      }

      guard read(4) == Self.magic, read(1) == [1], let kind = read(1)?.first else { return nil }
      if kind == 4 {
        guard let index = readIndex(.counter), let authorization = read(32), rest.isEmpty else { return nil }
        self = .counter(index, authorization: authorization)
        return
      }
      if kind == 5 {
        guard let index = readIndex(.guesses), rest.isEmpty else { return nil }
        self = .plannedIndex(index)
        return
      }
      guard let parentName = read(34) else { return nil }
      switch kind {
      case 1:
        guard let object = readObject(parentName, uniqueByteCount: 32) else { return nil }
        self = .sealed(object)
      case 2:
        guard let object = readObject(parentName, uniqueByteCount: 64) else { return nil }
        self = .signingKey(object)
      case 3:
        guard let index = readIndex(.guesses), let digest = read(32),
          let object = readObject(parentName, uniqueByteCount: 32)
        else { return nil }
        self = .guessLimited(object, index, contextDigest: digest)
      default: return nil
      }
    }
  }
#endif
