import LibFuzzer
import SignetVault

// Only the keystore reads the data that is stored outside the TPM.
@testable import SignetTPM

@main struct FuzzTPM {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    if let blob = TPMBlob(input) {
      require(blob.bytes == input, "a blob has one form")
      if let index = blob.index {
        require(IndexPlan.handles.contains(index.handle), "an index is one of ours")
        require(index.salt.count == IndexPlan.saltByteCount, "a salt has its length")
        require(index.unwrittenName != index.writtenName, "writing an index shows in its Name")
      }
    }
    if let count = TPMFrame.byteCount(ofAnswer: input) {
      let bounds = TPMFrame.headerByteCount...TPMFrame.largestByteCount
      require(bounds.contains(count), "an answer has a head, and is no longer than one may be")
    }
    require((TPMFrame.code(ofAnswer: input) != nil) == (input.count >= 10), "a code stands in a head")
    let text = String(decoding: input, as: UTF8.self)
    if let address = accepted({ () throws(KeystoreFailure) in try TPMAddress(text) }) {
      let again = made("a printed address") { () throws(KeystoreFailure) in
        try TPMAddress(address.description)
      }
      require(again == address, "printing an address loses nothing")
    }
  }
}
