import SignetImages
import Testing

@Suite("Pictures full of finder patterns") struct FinderSearchTests {
  /// A one-bit picture full of finder patterns, with the size of modules in pixels and the gap in modules.
  private static func grid(side: Int, module: Int, gap: Int, isInverted: Bool = false) -> [UInt8] {
    let pattern: [UInt8] = [0b1111111, 0b1000001, 0b1011101, 0b1011101, 0b1011101, 0b1000001, 0b1111111]
    let period = (7 + gap) * module
    /// The pattern's row or column of a pixel; `nil` between patterns, or if the whole pattern does not fit.
    func line(_ place: Int) -> Int? {
      let (begin, inside) = (place / period * period, place % period / module)
      return inside < 7 && begin + 7 * module <= side ? inside : nil
    }
    let columns = (0..<side).map(line)
    // The lines for each row of the pattern, and for the gaps.
    let lines = (0..<8).map { row in
      var bytes = [UInt8](repeating: 0, count: (side + 7) / 8)
      for x in 0..<side {
        let isDark = row < 7 && columns[x].map { pattern[row] >> (6 - $0) & 1 == 1 } ?? false
        if isDark == isInverted { bytes[x / 8] |= 0x80 >> (x % 8) }
      }
      return bytes
    }
    return SamplePNG.file(
      width: side, height: side, bitDepth: 1, rows: (0..<side).map { lines[line($0) ?? 7] })
  }

  /// 8000 by 4190 pixels of one bit: a finder pattern with modules of 83 pixels, tiny ones, and a code in the lower right corner.
  private static func oneLarge(tiny count: Int, code: QRCode) -> [UInt8] {
    let (width, height) = (8000, 4190)
    let pattern: [UInt8] = [0b1111111, 0b1000001, 0b1011101, 0b1011101, 0b1011101, 0b1000001, 0b1111111]
    var rows = [[UInt8]](repeating: [UInt8](repeating: 0xFF, count: width / 8), count: height)
    func fill(_ left: Int, _ top: Int, _ module: Int, side: Int, isDark: (Int, Int) -> Bool) {
      for y in 0..<side * module {
        for x in 0..<side * module where isDark(y / module, x / module) {
          rows[top + y][(left + x) / 8] &= ~(0x80 >> UInt8((left + x) % 8))
        }
      }
    }
    func fillPattern(_ left: Int, _ top: Int, _ module: Int) {
      fill(left, top, module, side: 7) { pattern[$0] >> UInt8(6 - $1) & 1 == 1 }
    }
    fillPattern(0, 0, 83)
    // Modules of 3 pixels, 48 pixels from one to the next.
    for index in 0..<count { fillPattern(672 + index % 150 * 48, index / 150 * 48, 3) }
    let codeSide = (code.side + 4) * 8
    fill(width - codeSide, height - codeSide, 8, side: code.side) { code.isDark(row: $0, column: $1) }
    return SamplePNG.file(width: width, height: height, bitDepth: 1, rows: rows)
  }

  @Test("are counted by the largest: one huge pattern among hundreds of tiny ones is in each triple")
  func oneLarge() throws {
    let limit = FinderSearch.Limits().triples
    let code = try QRCode("code")
    let tooMany = Self.oneLarge(tiny: 380, code: code)
    let (work, isTooMuch) = try QRReader.work(inPNG: tooMany)
    #expect(isTooMuch && work.triples > 4 * limit, "\(work)")
    #expect(throws: QRFailure.tooManyPatterns) { try QRReader.texts(inPNG: tooMany) }
    // Just below the limit, and read.
    let allowed = Self.oneLarge(tiny: 110, code: code)
    let few = try QRReader.work(inPNG: allowed)
    #expect(!few.isTooMuch && few.work.triples > limit * 9 / 10, "\(few.work)")
    #expect(try QRReader.texts(inPNG: allowed) == ["code"])
  }

  /// For each size of modules, a picture that is hardly larger than necessary.
  @Test(
    "exceed the limit before any decoding is tried",
    arguments: [(2400, 1), (3000, 2), (4000, 4), (4000, 16), (3200, 32), (3440, 60)])
  func hostile(_ side: Int, _ module: Int) throws {
    let png = Self.grid(side: side, module: module, gap: 1)
    let (work, isTooMuch) = try QRReader.work(inPNG: png)
    let limits = FinderSearch.Limits()
    #expect(isTooMuch)
    // A row adds no more lines than it has pixels, a line no more comparisons than there are lines.
    #expect(work.lines <= 2 * (limits.lines + side), "\(work)")
    #expect(work.comparisons <= limits.comparisons + limits.lines, "\(work)")
  }

  /// Too many lines, and too many triples.
  @Test(
    "are refused by the code reader, also light on dark",
    arguments: [(2400, 1, false), (2400, 1, true), (3440, 60, false), (3440, 60, true)])
  func refused(_ side: Int, _ module: Int, _ isInverted: Bool) throws {
    let png = Self.grid(side: side, module: module, gap: 1, isInverted: isInverted)
    #expect(throws: QRFailure.tooManyPatterns) { try QRReader.texts(inPNG: png) }
  }

  @Test("are counted as zbar would: a cluster in each direction for each row of patterns")
  func counted() throws {
    let (work, isTooMuch) = try QRReader.work(inPNG: Self.grid(side: 200, module: 4, gap: 13))
    // 80 pixels from one pattern to the next: at 0, 80 and 160, each 28 wide.
    #expect(work.clusters == [9, 9] && !isTooMuch, "\(work)")
    #expect(work.lines == 2 * 9 * 12 && work.crossings == 81 && work.triples == 9 * 8 * 7 / 6 * 24, "\(work)")
  }

  @Test(
    "exceed each limit of work separately",
    arguments: [
      { $0.lines = 100 }, { $0.comparisons = 100 }, { $0.crossings = 80 }, { $0.triples = 84 * 24 - 1 },
    ] as [@Sendable (inout FinderSearch.Limits) -> Void])
  func limits(_ change: @Sendable (inout FinderSearch.Limits) -> Void) throws {
    var limits = FinderSearch.Limits()
    change(&limits)
    #expect(try QRReader.work(inPNG: Self.grid(side: 200, module: 4, gap: 13), limits: limits).isTooMuch)
  }

  @Test(
    "are distinguished from large, dense and multiple codes, which are read",
    arguments: [false, true])
  func harmless(_ isInverted: Bool) throws {
    let (dark, light): (UInt8, UInt8) = isInverted ? (255, 0) : (0, 255)
    let long = String(repeating: "The quick brown fox. ", count: 100)
    for (text, moduleSize) in [("x", 100), ("x", 2), (long, 3), (long, 16)] {
      let rows = SamplePNG.greyRows([try QRCode(text)], moduleSize: moduleSize, dark: dark, light: light)
      try #require(rows.count * rows.count <= QRReader.maximumPixelCount)
      let png = SamplePNG.file(width: rows[0].count, height: rows.count, rows: rows)
      #expect(try QRReader.texts(inPNG: png) == [text])
    }
    let codes = try (0..<4).map { try QRCode("code \($0)") }
    let row = SamplePNG.greyRows(codes, moduleSize: 8, dark: dark, light: light)
    let sheet = row + row + row
    let found = try QRReader.texts(
      inPNG: SamplePNG.file(width: sheet[0].count, height: sheet.count, rows: sheet))
    #expect(found.count == 12 && Set(found).count == 4)
  }
}
