#if os(Linux)
  import SignetCrypto

  /// The definition of one of this program's NV indices: all inputs of its Name, so that no other index is accepted for it.
  package struct IndexPlan: Equatable {
    package let handle: UInt32
    let role: Role
    /// Random bytes that make the Name of each index unique, even if a handle is reused.
    let salt: [UInt8]

    package enum Role: Equatable {
      /// A PIN FAIL index, which counts wrong guesses at its own authorization value.
      case guesses
      /// A counter that only increases.
      case counter
    }

    /// The handles reserved for this program, as many as one answer can list.
    ///
    /// They lie in the range for owners (TCG registry of reserved handles, 0x01800000 to 0x01BFFFFF).
    package static let handles: ClosedRange<UInt32> = 0x01A5_1600...0x01A5_167F
    package static let saltByteCount = 32

    /// The branches of the policy of a guess index.
    ///
    /// They allow one write, allow reading, and are the salt, which no session can satisfy. The counter's policy is the salt
    /// alone.
    let branches: [[UInt8]]
    package let policy: [UInt8]
    /// The Name of the index before its first write.
    let unwrittenName: [UInt8]
    /// The Name of the index after its first write.
    package let writtenName: [UInt8]

    package init(handle: UInt32, role: Role, salt: [UInt8]) {
      precondition(salt.count == Self.saltByteCount, "the salt of an index has 32 bytes")
      self.handle = handle
      self.role = role
      self.salt = salt
      var write = PolicyDigest()
      write.nvWritten(false)
      write.commandCode(.nvWrite)
      var read = PolicyDigest()
      read.commandCode(.nvRead)
      let branches = [write.bytes, read.bytes, salt]
      let policy = role == .guesses ? PolicyDigest.any(of: branches).bytes : salt
      let attributes = Self.attributes(of: role)
      (self.branches, self.policy) = (branches, policy)
      unwrittenName = Self.name(handle, attributes, policy)
      writtenName = Self.name(handle, attributes | 1 << 29, policy)
    }

    /// The bytes of content: PIN count and PIN limit of 4 bytes each, or the value of the counter.
    var dataByteCount: UInt16 { Self.dataByteCount }
    private static let dataByteCount: UInt16 = 8

    /// The attributes without the *written* bit (part 2 section 13.4).
    var attributes: UInt32 { Self.attributes(of: role) }

    private static func attributes(of role: Role) -> UInt32 {
      let (authWrite, policyWrite, authRead, policyRead): (UInt32, UInt32, UInt32, UInt32) = (
        1 << 2, 1 << 3, 1 << 18, 1 << 19
      )
      let (noDA, counter, pinFail): (UInt32, UInt32, UInt32) = (1 << 25, 1 << 4, 8 << 4)
      return switch role {
      case .guesses: policyWrite | authRead | policyRead | noDA | pinFail
      case .counter: authWrite | authRead | noDA | counter
      }
    }

    /// A Name (part 1 section 16): algorithm and SHA-256 of the public part.
    private static func name(_ handle: UInt32, _ attributes: UInt32, _ policy: [UInt8]) -> [UInt8] {
      let sha256: UInt16 = 0x000B
      let publicPart =
        handle.bigEndianBytes + sha256.bigEndianBytes + attributes.bigEndianBytes
        + UInt16(policy.count).bigEndianBytes + policy + dataByteCount.bigEndianBytes
      return sha256.bigEndianBytes + HashFunction.sha256.digest(of: publicPart)
    }
  }
#endif
