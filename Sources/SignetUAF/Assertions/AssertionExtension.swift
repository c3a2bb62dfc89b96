/// An extension within an assertion.
package struct AssertionExtension: Hashable, Sendable {
  /// The id of the extension, 1 to 32 bytes.
  package let id: String
  package let data: [UInt8]
  /// Indicates whether a verifier that does not know the extension must reject the assertion.
  package let isCritical: Bool

  package init(id: String, data: [UInt8], isCritical: Bool) {
    self.id = id
    self.data = data
    self.isCritical = isCritical
  }

  func write(to writer: inout TLVWriter) {
    writer.write(isCritical ? .criticalExtension : .ignorableExtension) { writer in
      writer.write(.extensionID, id.utf8)
      writer.write(.extensionData, data)
    }
  }
}
