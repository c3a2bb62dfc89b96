import LibFuzzer

// `@testable` to pass pixels to the scanner without the compression and checksums of PNG.
@testable import SignetImages

@main struct FuzzQR {
  static func main() { LibFuzzer.run(check) }

  /// PNG files are read after their checksums were repaired; for other inputs, the first byte selects the kind.
  static func check(_ input: [UInt8]) {
    switch input.first {
    case nil: read([])
    case 0x89:
      read(input)
      read(PNGChecksums.repaired(input))
    case UInt8(ascii: "t"): checkText(String(decoding: input.dropFirst(), as: UTF8.self))
    case let width?: scan(input.dropFirst(), width: Int(width))
    }
  }

  private static func read(_ png: [UInt8]) {
    let texts = accepted { () throws(QRFailure) in try QRReader.texts(inPNG: png) }
    require(texts?.isEmpty != true, "there is a text, or a refusal")
    _ = accepted { () throws(QRFailure) in try QRReader.singleText(inPNG: png) }
  }

  /// A picture of one bit for each module, each drawn as three pixels by three.
  private static func scan(_ bits: ArraySlice<UInt8>, width: Int) {
    let height = width == 0 ? 0 : min(bits.count * 8 / width, 177)
    guard height > 0 else { return }
    let size = 3
    guard
      var image = accepted({ () throws(QRFailure) in
        try GreyImage(width: (width + 8) * size, height: (height + 8) * size)
      })
    else { return }
    for row in 0..<height {
      for column in 0..<width {
        let bit = row * width + column
        if bits[bits.startIndex + bit / 8] >> (bit % 8) & 1 == 1 {
          image.fillBlack(x: (column + 4) * size, y: (row + 4) * size, side: size)
        }
      }
    }
    do throws(QRFailure) {
      _ = try QRScanner().contents(of: image)
    } catch {
      require(!error.description.isEmpty, "a refusal says why")
    }
  }

  private static func checkText(_ text: String) {
    guard let code = accepted({ () throws(QRFailure) in try QRCode(text) }) else { return }
    let png = made("a picture") { () throws(QRFailure) in try code.png(moduleSize: 3) }
    let read = accepted { () throws(QRFailure) in try QRReader.singleText(inPNG: png) }
    require(read.map { $0.utf8.elementsEqual(text.utf8) } != false, "what is read is what was written")
  }
}
