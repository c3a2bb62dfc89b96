import SignetSystem

/// Reads QR codes in untrusted PNG images.
///
/// All limits are checked before memory for the pixels is allocated, and every image gives its codes or a ``QRFailure``. The
/// work is limited as well: a picture with thousands of finder patterns is rejected (`FinderSearch`). Reading blocks: call
/// it on an executor that may block if images are large.
public enum QRReader {
  /// The maximum file size: 10 MiB.
  public static let maximumByteCount = 10 * 1024 * 1024

  /// The maximum number of pixels per side: 8192.
  public static let maximumSide = 8192

  /// The maximum number of pixels: 33 554 432 (32 Mi), one byte each.
  public static let maximumPixelCount = 32 * 1024 * 1024

  /// Returns the texts of all QR codes in a PNG, from the top down and from the left, duplicates included.
  ///
  /// Light codes on a dark background are read as well. Content that is not UTF-8 is rejected, not guessed.
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

  /// Counts zbar's work on a PNG and compares it with limits.
  ///
  /// - Parameters:
  ///   - bytes: A whole PNG file.
  ///   - limits: The limits.
  /// - Returns: The work counted until the end or until a limit was exceeded.
  /// - Throws: The errors of ``texts(inPNG:)`` for an invalid file.
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

  /// Returns true if bytes have the PNG signature (ISO/IEC 15948 section 5.2).
  package static func isPNG(_ bytes: some Sequence<UInt8>) -> Bool {
    PNGFrame.isPNG(bytes)
  }

  /// Returns the texts of all QR codes in a PNG file.
  ///
  /// - Parameter path: A file, or any other readable path, such as `/dev/stdin`.
  /// - Returns: At least one text, in the order of ``texts(inPNG:)``.
  /// - Throws: ``QRFailure/cannotRead(code:)`` and the errors of ``texts(inPNG:)``.
  public static func texts(inPNGAt path: String) throws(QRFailure) -> [String] {
    let bytes: [UInt8]
    do throws(FileFailure) { bytes = try OpenFile(reading: path).contents(limit: maximumByteCount) } catch {
      throw error == .tooLarge ? .fileTooLarge : .cannotRead(code: error.code)
    }
    return try texts(inPNG: bytes)
  }

  /// Returns the text of the only QR code in a PNG; several copies of a code count as one.
  ///
  /// - Throws: ``QRFailure/several(count:)`` and the errors of ``texts(inPNG:)``.
  public static func singleText(inPNG bytes: [UInt8]) throws(QRFailure) -> String {
    try single(texts(inPNG: bytes))
  }

  /// Returns the text of the only QR code in a PNG file; several copies of a code count as one.
  ///
  /// - Throws: ``QRFailure/several(count:)`` and the errors of ``texts(inPNGAt:)``.
  public static func singleText(inPNGAt path: String) throws(QRFailure) -> String {
    try single(texts(inPNGAt: path))
  }

  private static func single(_ texts: [String]) throws(QRFailure) -> String {
    guard let first = texts.first else { throw .noCode }
    // Compared as bytes: two canonically equal texts with different bytes are different codes.
    let different = Set(texts.map { Array($0.utf8) })
    guard different.count == 1 else { throw .several(count: different.count) }
    return first
  }
}
