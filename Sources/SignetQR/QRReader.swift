import SignetFiles
import SignetPNG

/// Reads QR codes out of PNG images from anywhere.
///
/// Every bound is checked before memory is taken for the pixels, and every image either gives its codes or
/// a ``QRFailure``. The work is bounded, too: a picture with thousands of finder patterns is refused (`FinderSearch`). Reading blocks: call it from an executor that may block when images are large.
public enum QRReader {
  /// The largest file that is read: 10 MiB.
  public static let maximumByteCount = 10 * 1024 * 1024

  /// The most pixels on a side: 8192.
  public static let maximumSide = 8192

  /// The most pixels in all: 33 554 432 (32 Mi), which take as many bytes.
  public static let maximumPixelCount = 32 * 1024 * 1024

  /// The texts of all QR codes in a PNG, from the top down and from the left, equal ones as often as shown.
  ///
  /// Light codes on dark ground are found too. A content that is not UTF-8 is refused, not guessed at.
  ///
  /// - Parameter bytes: A whole PNG file (ISO/IEC 15948).
  /// - Returns: At least one text.
  /// - Throws: ``QRFailure/notPNG``, ``QRFailure/fileTooLarge``, ``QRFailure/imageTooLarge(width:height:)``,
  ///   ``QRFailure/damaged``, ``QRFailure/tooManyPatterns``, ``QRFailure/noCode``, ``QRFailure/notText`` or
  ///   ``QRFailure/library(call:)``.
  public static func texts(inPNG bytes: [UInt8]) throws(QRFailure) -> [String] {
    var image = try GreyImage(png: bytes)
    var codes = try contents(of: image)
    if codes.isEmpty {
      image.invert()
      codes = try contents(of: image)
    }
    guard !codes.isEmpty else { throw .noCode }
    var texts: [String] = []
    for code in codes {
      guard let text = String(validating: code, as: UTF8.self) else { throw .notText }
      texts.append(text)
    }
    return texts
  }

  private static func contents(of image: borrowing GreyImage) throws(QRFailure) -> [[UInt8]] {
    var search = FinderSearch()
    try search.search(image)
    return try QRScanner().contents(of: image)
  }

  /// The work that a PNG makes for zbar, and whether that is too much.
  ///
  /// - Parameters:
  ///   - bytes: A whole PNG file.
  ///   - limits: What is too much.
  /// - Returns: What was counted until then.
  /// - Throws: As ``texts(inPNG:)``, for the file.
  package static func work(
    inPNG bytes: [UInt8], limits: FinderSearch.Limits = FinderSearch.Limits()
  ) throws(QRFailure) -> (work: FinderSearch.Work, isTooMuch: Bool) {
    let image = try GreyImage(png: bytes)
    var search = FinderSearch(limits)
    do throws(QRFailure) { try search.search(image) } catch {
      guard error == .tooManyPatterns else { throw error }
      return (search.work, true)
    }
    return (search.work, false)
  }

  /// Whether bytes begin as a PNG file does (ISO/IEC 15948 section 5.2).
  package static func isPNG(_ bytes: some Sequence<UInt8>) -> Bool {
    PNGFrame.isPNG(bytes)
  }

  /// The texts of all QR codes in a PNG file.
  ///
  /// - Parameter path: A file, or anything else that can be read to its end (`/dev/stdin`).
  /// - Returns: At least one text, in the order of ``texts(inPNG:)``.
  /// - Throws: ``QRFailure/cannotRead(code:)`` and what ``texts(inPNG:)`` throws.
  public static func texts(inPNGAt path: String) throws(QRFailure) -> [String] {
    let bytes: [UInt8]
    do throws(FileFailure) { bytes = try OpenFile(reading: path).contents(limit: maximumByteCount) } catch {
      throw error == .tooLarge ? .fileTooLarge : .cannotRead(code: error.code)
    }
    return try texts(inPNG: bytes)
  }

  /// The text of the one QR code in a PNG; the same code shown twice counts as one.
  ///
  /// - Throws: ``QRFailure/several(count:)`` and what ``texts(inPNG:)`` throws.
  public static func singleText(inPNG bytes: [UInt8]) throws(QRFailure) -> String {
    try single(texts(inPNG: bytes))
  }

  /// The text of the one QR code in a PNG file; the same code shown twice counts as one.
  ///
  /// - Throws: ``QRFailure/several(count:)`` and what ``texts(inPNGAt:)`` throws.
  public static func singleText(inPNGAt path: String) throws(QRFailure) -> String {
    try single(texts(inPNGAt: path))
  }

  private static func single(_ texts: [String]) throws(QRFailure) -> String {
    guard let first = texts.first else { throw .noCode }
    // Compared as bytes: two texts that are only canonically equal are not the same code.
    let different = Set(texts.map { Array($0.utf8) })
    guard different.count == 1 else { throw .several(count: different.count) }
    return first
  }
}
