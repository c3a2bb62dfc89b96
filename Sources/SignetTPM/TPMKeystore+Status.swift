#if os(Linux)
  public import SignetVault

  extension TPMKeystore {
    /// The properties that the TPM reports, and the number of this program's indices in it.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure`` if the TPM cannot be queried.
    public func status() throws(KeystoreFailure) -> KeystoreStatus {
      try converse { conversation throws(TPMFailure) in
        let fixed = try conversation.properties(from: Conversation.Property.manufacturer, count: 8)
        var status = KeystoreStatus(kind: .tpm2)
        let manufacturer = fixed[Conversation.Property.manufacturer].map(Self.text) ?? ""
        let model = Conversation.Property.vendorStrings.compactMap { fixed[$0].map(Self.text) }.joined()
        status.manufacturer = [manufacturer, model].map(Self.trimmed).filter { !$0.isEmpty }.joined(
          separator: " ")
        let major = fixed[Conversation.Property.firmwareMajor] ?? 0
        let minor = fixed[Conversation.Property.firmwareMinor] ?? 0
        status.firmware = [major >> 16, major & 0xFFFF, minor >> 16, minor & 0xFFFF].map(String.init)
          .joined(separator: ".")
        status.isSimulator = isSimulator(model)
        status.lockout = try conversation.lockout()
        let passwords = try conversation.passwordsSet()
        (status.isOwnerPasswordSet, status.isLockoutPasswordSet) = (passwords.owner, passwords.lockout)
        status.reservedLocationCount = try conversation.occupiedHandles().count
        return status
      }
    }

    /// Returns true for a software TPM: the vendor strings of swtpm and Microsoft's simulator identify them.
    private func isSimulator(_ model: String) -> Bool {
      if case .device = address { return model.hasPrefix("SW ") || model.hasPrefix("xCG") }
      return true
    }

    /// Four characters in a number; characters other than visible ASCII and space are omitted.
    private static func text(_ number: UInt32) -> String {
      String(decoding: number.bigEndianBytes.filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
    }

    private static func trimmed(_ text: String) -> String {
      text.split(separator: " ").joined(separator: " ")
    }
  }

  extension Conversation {
    /// Indicates which passwords are set (TPMA_PERMANENT, part 2 section 8.6).
    func passwordsSet() throws(TPMFailure) -> (owner: Bool, lockout: Bool) {
      let found = try properties(from: Property.permanent, count: 1)
      guard let permanent = found[Property.permanent] else { throw .keystore(.disconnected) }
      return (owner: permanent & 1 << 0 != 0, lockout: permanent & 1 << 2 != 0)
    }

    func lockout() throws(TPMFailure) -> KeystoreStatus.Lockout {
      let found = try properties(from: Property.lockoutCounter, count: 4)
      func number(_ property: UInt32) -> Int { Int(found[property] ?? 0) }
      return KeystoreStatus.Lockout(
        failedCount: number(Property.lockoutCounter), limit: number(Property.lockoutLimit),
        secondsForEach: number(Property.lockoutInterval))
    }
  }
#endif
