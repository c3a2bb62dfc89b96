import SignetImages
import Testing

@Suite("QR codes drawn with characters") struct QRTerminalTextTests {
  /// Converts a drawing back to a PNG, as it appears on the screen.
  private func photograph(_ text: String, inkIsLight: Bool, isASCII: Bool) -> [UInt8] {
    let scale = 4
    var rows: [[UInt8]] = []
    for line in text.split(separator: "\n") {
      let ink: UInt8 = inkIsLight ? 255 : 0
      let paper = 255 - ink
      var upper: [UInt8] = []
      var lower: [UInt8] = []
      for (index, character) in line.enumerated() where !isASCII || index.isMultiple(of: 2) {
        let (isUpper, isLower) =
          "█#".contains(character) ? (true, true) : (character == "▀", character == "▄")
        upper += [UInt8](repeating: isUpper ? ink : paper, count: scale)
        lower += [UInt8](repeating: isLower ? ink : paper, count: scale)
      }
      rows += [[UInt8]](repeating: upper, count: scale)
      if !isASCII { rows += [[UInt8]](repeating: lower, count: scale) }
    }
    return SamplePNG.file(width: rows.first?.count ?? 0, height: rows.count, rows: rows)
  }

  @Test("half blocks show the code on dark and on light ground", arguments: [true, false])
  func halfBlocks(_ isDark: Bool) throws {
    let text = try QRCode("terminal").terminalText(.halfBlocks(isDark ? .dark : .light))
    #expect(
      try QRReader.singleText(inPNG: photograph(text, inkIsLight: isDark, isASCII: false)) == "terminal")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 16 && lines.last == "")
    #expect(lines.dropLast().allSatisfy { $0.count == 29 })
  }

  @Test("ASCII shows the code and nothing but # and spaces", arguments: [true, false])
  func ascii(_ isDark: Bool) throws {
    let text = try QRCode("terminal").terminalText(.ascii(isDark ? .dark : .light))
    #expect(
      try QRReader.singleText(inPNG: photograph(text, inkIsLight: isDark, isASCII: true)) == "terminal")
    #expect(Set(text) == ["#", " ", "\n"])
  }

  @Test("colours are set and reset on every line")
  func colours() throws {
    let code = try QRCode("terminal")
    let plain = code.terminalText(.halfBlocks(.dark)).split(separator: "\n")
    let coloured = code.terminalText(.colouredHalfBlocks).split(separator: "\n")
    #expect(coloured == plain.map { "\u{1B}[38;5;231;48;5;16m\($0)\u{1B}[0m" })
  }

  @Test("the quiet zone is as asked, within bounds", arguments: [(-3, 21), (0, 21), (2, 25), (99, 85)])
  func quietZone(_ asked: Int, _ width: Int) throws {
    let lines = try QRCode("zone").terminalText(.halfBlocks(.dark), quietZone: asked).split(separator: "\n")
    #expect(lines.allSatisfy { $0.count == width })
  }
}
