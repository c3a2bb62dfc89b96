import SignetSystem

/// A QR code symbol (ISO/IEC 18004, model 2) at error-correction level M.
///
/// Its content can be a secret (an invite, an OTP seed): the type prints no content, and
/// ``writePNG(to:moduleSize:quietZone:)`` creates a file that only its owner can read.
public struct QRCode: Sendable, Hashable {
  /// The maximum number of bytes of arbitrary text: version 40, level M, 8-bit mode.
  ///
  /// Digits and capital letters are encoded more compactly, so more of them may fit.
  public static let maximumByteCount = 2331

  /// The margin that ISO/IEC 18004 section 9.1 requires, in modules.
  public static let standardQuietZone = 4

  /// The number of modules per side without the quiet zone, 21 to 177.
  public let side: Int

  /// The modules row by row from the top left, true if dark; `side * side` elements.
  private let modules: [Bool]

  /// Encodes `text` as UTF-8 in the smallest symbol that fits.
  ///
  /// - Throws: ``QRFailure/emptyText``, ``QRFailure/textTooLong(byteCount:)`` or, if memory is exhausted,
  ///   ``QRFailure/library(call:)``.
  public init(_ text: String) throws(QRFailure) {
    let symbol = try QRSymbol(text)
    side = symbol.side
    modules = symbol.modules
  }

  /// Returns true if a module is dark; all modules outside the symbol are light.
  ///
  /// - Parameters:
  ///   - row: Counted from 0 at the top.
  ///   - column: Counted from 0 at the left.
  /// - Returns: True if the module is dark.
  public func isDark(row: Int, column: Int) -> Bool {
    guard (0..<side).contains(row), (0..<side).contains(column) else { return false }
    return modules[row * side + column]
  }

  /// Draws the symbol, black on white, as a PNG of 8-bit grey.
  ///
  /// - Parameters:
  ///   - moduleSize: The pixels per side of a module, 1 to 64.
  ///   - quietZone: The white margin in modules, 0 to 32; below 4 some readers fail.
  /// - Returns: A whole PNG file (ISO/IEC 15948).
  /// - Throws: ``QRFailure/measureOutOfRange(moduleSize:quietZone:)`` or ``QRFailure/library(call:)``.
  public func png(
    moduleSize: Int = 8, quietZone: Int = standardQuietZone
  ) throws(QRFailure) -> [UInt8] {
    guard (1...64).contains(moduleSize), (0...32).contains(quietZone),
      (side + 2 * quietZone) * moduleSize <= QRReader.maximumSide
    else { throw .measureOutOfRange(moduleSize: moduleSize, quietZone: quietZone) }
    var image = try GreyImage(
      width: (side + 2 * quietZone) * moduleSize, height: (side + 2 * quietZone) * moduleSize)
    for row in 0..<side {
      for column in 0..<side where isDark(row: row, column: column) {
        image.fillBlack(
          x: (column + quietZone) * moduleSize, y: (row + quietZone) * moduleSize, side: moduleSize)
      }
    }
    return try image.png()
  }

  /// Writes the PNG of ``png(moduleSize:quietZone:)`` to a file of mode 0600.
  ///
  /// The file is created whole or not at all, and replaces one of the same name.
  ///
  /// - Throws: ``QRFailure/cannotWrite(code:)`` and the errors of ``png(moduleSize:quietZone:)``.
  public func writePNG(
    to path: String, moduleSize: Int = 8, quietZone: Int = standardQuietZone
  ) throws(QRFailure) {
    let image = try png(moduleSize: moduleSize, quietZone: quietZone)
    do throws(FileFailure) { try unsafe PrivateFile.place(image.span.bytes, at: path, .replacing) } catch {
      throw .cannotWrite(code: error.code)
    }
  }
}

extension QRCode: CustomStringConvertible, CustomReflectable {
  /// The size of the symbol; never its content.
  public var description: String { "QR code of \(side) x \(side) modules" }

  /// An empty mirror: `dump` would otherwise print the modules.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
