import Foundation
import SignetImages
import Testing

@Suite("QR codes in hostile and odd images") struct QRReaderTests {
  @Test("a PNG cut at any byte is refused")
  func truncated() throws {
    let png = try QRCode("truncated").png(moduleSize: 2)
    for count in png.indices {
      let failure = #expect(throws: QRFailure.self) { try QRReader.texts(inPNG: Array(png[..<count])) }
      #expect(failure == (count < 8 ? .notPNG : .damaged), "cut after \(count) bytes")
    }
  }

  @Test("a flipped bit is refused or without effect, never another text")
  func flipped() throws {
    let png = try QRCode("flipped").png(moduleSize: 2)
    var refusals = 0
    for index in png.indices {
      for bit in [0, 3, 7] {
        var changed = png
        changed[index] ^= 1 << bit
        do throws(QRFailure) {
          #expect(try QRReader.texts(inPNG: changed) == ["flipped"])
        } catch {
          refusals += 1
          #expect([.notPNG, .damaged, .noCode].contains(error) || isTooLarge(error), "\(error) at \(index)")
        }
      }
    }
    #expect(refusals > png.count)
  }

  private func isTooLarge(_ failure: QRFailure) -> Bool {
    if case .imageTooLarge = failure { true } else { false }
  }

  @Test(
    "a size out of bounds is refused before any allocation",
    arguments: [(8193, 1), (1, 8193), (8192, 4097), (1 << 31, 1 << 31), (0xFFFF_FFFF, 0xFFFF_FFFF)])
  func hugeDimensions(_ width: Int, _ height: Int) {
    let bomb = SamplePNG.file(width: width, height: height, rows: [[0]])
    #expect(throws: QRFailure.imageTooLarge(width: UInt32(width), height: UInt32(height))) {
      try QRReader.texts(inPNG: bomb)
    }
  }

  @Test("a width or height of zero is refused", arguments: [(0, 1), (1, 0), (0, 0)])
  func emptyDimensions(_ width: Int, _ height: Int) {
    #expect(throws: QRFailure.damaged) {
      try QRReader.texts(inPNG: SamplePNG.file(width: width, height: height, rows: []))
    }
  }

  @Test("more or fewer pixels than the header says are refused")
  func wrongPixelCount() {
    #expect(throws: QRFailure.damaged) {
      try QRReader.texts(
        inPNG: SamplePNG.file(width: 64, height: 64, rows: [[UInt8](repeating: 0, count: 64)]))
    }
    let more = [[UInt8]](repeating: [UInt8](repeating: 255, count: 64), count: 4096)
    let failure = #expect(throws: QRFailure.self) {
      try QRReader.texts(inPNG: SamplePNG.file(width: 64, height: 64, rows: more))
    }
    #expect(failure == .noCode || failure == .damaged)
  }

  @Test("a file over 10 MiB is refused; one of exactly 10 MiB is not")
  func largeFile() throws {
    let png = try QRCode("large").png()
    let full = png + [UInt8](repeating: 0, count: QRReader.maximumByteCount - png.count)
    #expect(try QRReader.texts(inPNG: full) == ["large"])
    #expect(throws: QRFailure.fileTooLarge) { try QRReader.texts(inPNG: full + [0]) }
  }

  @Test("the largest image is read, and the widest and the highest")
  func largestImage() throws {
    // Up to zbar, which searches for seconds in so many pixels without a code.
    let rows = [[UInt8]](repeating: [UInt8](repeating: 255, count: 1024), count: 4096)
    let png = SamplePNG.file(width: 8192, height: 4096, bitDepth: 1, rows: rows)
    let (work, isTooMuch) = try QRReader.work(inPNG: png)
    #expect(work.lines == 0 && !isTooMuch)
    // One code in the maximum number of pixels in a row, or of rows.
    let code = SamplePNG.greyRows([try QRCode("large")])
    let side = code.count
    let wide = code.map { $0 + [UInt8](repeating: 255, count: QRReader.maximumSide - side) }
    let blank = [UInt8](repeating: 255, count: side)
    let high = code + [[UInt8]](repeating: blank, count: QRReader.maximumSide - side)
    for rows in [wide, high] {
      #expect(
        try QRReader.texts(inPNG: SamplePNG.file(width: rows[0].count, height: rows.count, rows: rows)) == [
          "large"
        ])
    }
  }

  @Test(
    "other files than PNG are refused",
    arguments: [
      [], [0x89], Array("P5 1 1 255 x".utf8), [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0],
      Array("GIF89a".utf8), Array(SamplePNG.signature.dropFirst()),
    ] as [[UInt8]])
  func notPNG(_ bytes: [UInt8]) {
    #expect(throws: QRFailure.notPNG) { try QRReader.texts(inPNG: bytes) }
  }

  @Test("invalid chunks are refused")
  func badChunks() {
    let header = SamplePNG.chunk(
      "IHDR", SamplePNG.bigEndian(8) + SamplePNG.bigEndian(8) + [8, 0, 0, 0, 0])
    let end = SamplePNG.chunk("IEND", [])
    let endless = SamplePNG.bigEndian(0xFFFF_FFFF) + Array("tEXt".utf8)
    for body in [header, end, header + end, header + endless + end, header + header + end, endless + header] {
      #expect(throws: QRFailure.damaged) { try QRReader.texts(inPNG: SamplePNG.signature + body) }
    }
  }

  @Test("every colour type and depth")
  func colourTypes() throws {
    let code = try QRCode("colours")
    let grey = SamplePNG.greyRows([code])
    let side = grey.count
    let palette = SamplePNG.chunk("PLTE", [0, 0, 0, 255, 255, 255])
    let files: [[UInt8]] = [
      SamplePNG.file(width: side, height: side, rows: grey),
      SamplePNG.file(
        width: side, height: side, bitDepth: 16, rows: grey.map { $0.flatMap { [$0, $0] } }),
      SamplePNG.file(
        width: side, height: side, colourType: 2, rows: grey.map { $0.flatMap { [$0, $0, $0] } }),
      SamplePNG.file(
        width: side, height: side, colourType: 3, extra: [palette],
        rows: grey.map { $0.map { $0 == 0 ? 0 : 1 } }),
      SamplePNG.file(width: side, height: side, colourType: 4, rows: grey.map { $0.flatMap { [$0, 255] } }),
      // Black throughout, and transparent where the code is light, so that it appears on white.
      SamplePNG.file(
        width: side, height: side, colourType: 6, rows: grey.map { $0.flatMap { [0, 0, 0, 255 - $0] } }),
    ]
    for (index, file) in files.enumerated() {
      #expect(try QRReader.texts(inPNG: file) == ["colours"], "file \(index)")
    }
  }

  @Test("light on dark, and grey on grey")
  func contrast() throws {
    let code = try QRCode("contrast")
    for (dark, light) in [(255, 0), (80, 180)] as [(UInt8, UInt8)] {
      let rows = SamplePNG.greyRows([code], dark: dark, light: light)
      #expect(
        try QRReader.texts(inPNG: SamplePNG.file(width: rows.count, height: rows.count, rows: rows))
          == ["contrast"])
    }
  }

  @Test("an image without a code")
  func noCode() {
    let white = [[UInt8]](repeating: [UInt8](repeating: 255, count: 300), count: 300)
    #expect(throws: QRFailure.noCode) {
      try QRReader.texts(inPNG: SamplePNG.file(width: 300, height: 300, rows: white))
    }
    #expect(throws: QRFailure.noCode) {
      try QRReader.texts(inPNG: SamplePNG.file(width: 1, height: 1, rows: [[0]]))
    }
  }

  @Test("random pixels are survived", arguments: 0..<8)
  func noise(_ seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    let rows = (0..<256).map { _ in
      (0..<256).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 63 == 1 ? 255 : 0 as UInt8
      }
    }
    #expect(throws: QRFailure.self) {
      try QRReader.texts(inPNG: SamplePNG.file(width: 256, height: 256, rows: rows))
    }
  }

  @Test("a content that is not UTF-8")
  func notText() throws {
    // The bytes "caf", E9, space, FF, drawn by the qrencode program.
    let png =
      "iVBORw0KGgoAAAANSUhEUgAAADoAAAA6AQMAAADbddhrAAAABlBMVEUAAAD///+l2Z/dAAAAAnRSTlP//8i138cAAAAJcEhZ"
      + "cwAACxIAAAsSAdLdfvwAAACASURBVCiRrdGxCsMwDARQgdZAf0Wg1XAfn9Xgj9EquJbiFNkZU01vEHcCCefIU4h2E1QgunOB"
      + "ubluaDfsOwi/ciZE/eqaIA3zngnT03RB9GiBiu7HEFZ4Y34Df0jPAVaQTU5UyKciWYEQfaHC3NG4AxuOoQsQI2OBqPVc8J8P"
      + "vgH92T6mrDp8RwAAAABJRU5ErkJggg=="
    let bytes = Array(try #require(Data(base64Encoded: png)))
    #expect(throws: QRFailure.notText) { try QRReader.texts(inPNG: bytes) }
  }

  @Test("two codes are both returned, and refused where one is expected")
  func several() throws {
    let rows = SamplePNG.greyRows([try QRCode("left"), try QRCode("right")])
    let png = SamplePNG.file(width: rows.count * 2, height: rows.count, rows: rows)
    #expect(try QRReader.texts(inPNG: png) == ["left", "right"])
    #expect(throws: QRFailure.several(count: 2)) { try QRReader.singleText(inPNG: png) }
  }

  @Test("the same code twice is one text")
  func twice() throws {
    let rows = SamplePNG.greyRows([try QRCode("same"), try QRCode("same")])
    let png = SamplePNG.file(width: rows.count * 2, height: rows.count, rows: rows)
    #expect(try QRReader.texts(inPNG: png) == ["same", "same"])
    #expect(try QRReader.singleText(inPNG: png) == "same")
  }

  @Test("codes are returned from top to bottom")
  func order() throws {
    let rows = SamplePNG.greyRows([try QRCode("above")]) + SamplePNG.greyRows([try QRCode("below")])
    let png = SamplePNG.file(width: rows.count / 2, height: rows.count, rows: rows)
    #expect(try QRReader.texts(inPNG: png) == ["above", "below"])
  }

  @Test("a failure names the remedy and never the content")
  func sentences() {
    let failures: [QRFailure] = [
      .emptyText, .textTooLong(byteCount: 9), .measureOutOfRange(moduleSize: 0, quietZone: 4), .notPNG,
      .fileTooLarge, .imageTooLarge(width: 9, height: 9), .damaged, .noCode, .notText, .several(count: 2),
      .cannotRead(code: 2), .cannotWrite(code: 13), .library(call: "zbar_scan_image"),
    ]
    #expect(Set(failures.map(\.description)).count == failures.count)
    #expect(
      QRFailure.cannotRead(code: 2).description == "the image cannot be read: No such file or directory")
  }
}
