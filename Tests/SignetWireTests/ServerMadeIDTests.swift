import SignetCrypto
import SignetWire
import Testing

@Suite("Identifiers that the server makes")
struct ServerMadeIDTests {
  /// Bytes that are all alike.
  private struct Repeating: RandomSource {
    let byte: UInt8
    func bytes(_ count: Int) -> [UInt8] { Array(repeating: byte, count: count) }
  }

  @Test("None begins with -, which a command line would take for an option", arguments: UInt8.min...UInt8.max)
  func firstCharacter(_ byte: UInt8) {
    let text = ServerMadeID(random: Repeating(byte: byte)).text
    #expect(text.utf8.count == 22)
    #expect(text.first?.isLetter == true)
  }
}
