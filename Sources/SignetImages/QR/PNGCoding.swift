extension GreyImage {
  /// Reads a PNG of any colour type as 8-bit grey, transparent parts on white.
  ///
  /// - Throws: ``QRFailure/notPNG``, ``QRFailure/fileTooLarge``, ``QRFailure/imageTooLarge(width:height:)``,
  ///   ``QRFailure/damaged`` or ``QRFailure/library(call:)``.
  init(png bytes: [UInt8]) throws(QRFailure) {
    let frame: PNGFrame
    do throws(PNGFailure) { frame = try PNGFrame(bytes, limits: QRReader.limits) } catch {
      throw QRFailure(error)
    }
    let image = try GreyImage(width: Int(frame.width), height: Int(frame.height))
    do throws(PNGFailure) {
      try unsafe image.withUnsafePixels { pixels throws(PNGFailure) in
        unsafe try PNGSession().read(bytes, frame, into: pixels)
      }
    } catch { throw QRFailure(error) }
    self = image
  }

  /// Encodes the image as a PNG of 8-bit grey.
  borrowing func png() throws(QRFailure) -> [UInt8] {
    let (width, height) = (width, height)
    do throws(PNGFailure) {
      return try unsafe withUnsafePixels { pixels throws(PNGFailure) in
        unsafe try PNGSession().write(pixels, width: width, height: height)
      }
    } catch { throw QRFailure(error) }
  }
}

extension QRReader {
  fileprivate static var limits: PNGLimits {
    PNGLimits(byteCount: maximumByteCount, side: UInt32(maximumSide), pixelCount: maximumPixelCount)
  }
}

extension QRFailure {
  fileprivate init(_ failure: PNGFailure) {
    switch failure {
    case .notPNG: self = .notPNG
    case .fileTooLarge: self = .fileTooLarge
    case .imageTooLarge(let width, let height): self = .imageTooLarge(width: width, height: height)
    case .damaged: self = .damaged
    case .library(let call): self = .library(call: call)
    }
  }
}
