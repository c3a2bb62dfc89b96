/// More than the protocol says, inside an assertion.
package struct AssertionExtension: Hashable, Sendable {
  /// What it is, 1 to 32 bytes.
  package let id: String
  /// What it says.
  package let data: [UInt8]
  /// Whether who does not know it has to refuse the assertion.
  package let isCritical: Bool

  package init(id: String, data: [UInt8], isCritical: Bool) {
    (self.id, self.data, self.isCritical) = (id, data, isCritical)
  }

  func write(to writer: inout TLVWriter) {
    writer.write(isCritical ? .criticalExtension : .ignorableExtension) { writer in
      writer.write(.extensionID, id.utf8)
      writer.write(.extensionData, data)
    }
  }
}
