#if os(Linux)
  import SignetCrypto

  /// The SHA-256 digest of an authorization policy, computed as the TPM does (TPM 2.0 Library, part 3 section 23).
  package struct PolicyDigest {
    package private(set) var bytes = [UInt8](repeating: 0, count: 32)

    package init() {}

    /// Adds a step: the index must be written, or unwritten (section 23.20).
    mutating func nvWritten(_ isWritten: Bool) { extend(0x18F, [isWritten ? 1 : 0]) }

    /// Adds a step: only this command (section 23.11).
    mutating func commandCode(_ code: CommandCode) { extend(0x16C, code.rawValue.bigEndianBytes) }

    /// Adds a step: the authorization value of the object itself (section 23.17).
    package mutating func authValue() { extend(0x16B, []) }

    /// Adds a step: the authorization value of the entity of this name (section 23.4), with an empty reference.
    package mutating func secret(name: [UInt8]) {
      extend(0x151, name)
      bytes = HashFunction.sha256.digest(of: bytes)
    }

    /// Any of several policies (section 23.6).
    static func any(of branches: [[UInt8]]) -> PolicyDigest {
      var digest = PolicyDigest()
      digest.extend(0x171, branches.flatMap(\.self))
      return digest
    }

    /// Command codes used in policies.
    enum CommandCode: UInt32 {
      case nvWrite = 0x137
      case nvRead = 0x14E
    }

    private mutating func extend(_ command: UInt32, _ data: [UInt8]) {
      bytes = HashFunction.sha256.digest(of: bytes + command.bigEndianBytes + data)
    }
  }
#endif
