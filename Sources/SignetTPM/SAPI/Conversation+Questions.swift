#if os(Linux)
  import CTPM2
  import SignetVault

  extension Conversation {
    /// Numbers of TPM properties (part 2 section 6.13).
    enum Property {
      static let manufacturer: UInt32 = 0x105
      static let vendorStrings: ClosedRange<UInt32> = 0x106...0x109
      static let firmwareMajor: UInt32 = 0x10B
      static let firmwareMinor: UInt32 = 0x10C
      static let permanent: UInt32 = 0x200
      static let lockoutCounter: UInt32 = 0x20E
      static let lockoutLimit: UInt32 = 0x20F
      static let lockoutInterval: UInt32 = 0x210
    }

    /// The occupied handles from `first` on, sorted.
    func handles(from first: UInt32, count: UInt32) throws(TPMFailure) -> [UInt32] {
      let handleCapability: UInt32 = 1
      let list = unsafe try capability(handleCapability, first, count).data.handles
      return unsafe withUnsafeBytes(of: list.handle) { bytes in
        unsafe Array(bytes.bindMemory(to: UInt32.self).prefix(Int(list.count)))
      }
    }

    /// Properties by number, from `first` on.
    func properties(from first: UInt32, count: UInt32) throws(TPMFailure) -> [UInt32: UInt32] {
      let propertyCapability: UInt32 = 6
      let list = unsafe try capability(propertyCapability, first, count).data.tpmProperties
      return unsafe withUnsafeBytes(of: list.tpmProperty) { bytes in
        let properties = unsafe bytes.bindMemory(to: TPMS_TAGGED_PROPERTY.self).prefix(Int(list.count))
        return Dictionary(unsafe properties.map { ($0.property, $0.value) }) { _, last in last }
      }
    }

    private func capability(
      _ kind: UInt32, _ first: UInt32, _ count: UInt32
    ) throws(TPMFailure) -> TPMS_CAPABILITY_DATA {
      var more: TPMI_YES_NO = 0
      var data = TPMS_CAPABILITY_DATA()
      try run("TPM2_GetCapability") {
        unsafe Tss2_Sys_GetCapability_Prepare(sys, kind, first, count)
      } complete: {
        unsafe Tss2_Sys_GetCapability_Complete(sys, &more, &data)
      }
      guard data.capability == kind else { throw .keystore(.disconnected) }
      return data
    }
  }
#endif
