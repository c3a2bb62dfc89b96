#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

#if canImport(Darwin)
  import Foundation
#else
  import CUnistring
#endif

/// Unicode Normalization Forms (UAX #15), computed by the system's library.
package enum Normalization {
  /// Returns true if a text is in Form C.
  package static func isFormC(_ text: String) -> Bool {
    // All code points below U+0300 are in Form C.
    if text.unicodeScalars.allSatisfy({ $0.value < 0x300 }) { return true }
    #if canImport(Darwin)
      return text.precomposedStringWithCanonicalMapping.hasSameBytes(as: text)
    #else
      var formC = Array(text.unicodeScalars.map(\.value))
      return unsafe normalize(&formC, CUnistring_form_c())
        && formC.elementsEqual(text.unicodeScalars.map(\.value))
    #endif
  }

  /// The Form D of a character; `nil` if it is unchanged.
  package static func formD(of scalar: Unicode.Scalar) -> [Unicode.Scalar]? {
    #if canImport(Darwin)
      let formD = Array(String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars)
      return formD == [scalar] ? nil : formD
    #else
      var first = [ucs4_t](repeating: 0, count: Int(UC_DECOMPOSITION_MAX_LENGTH))
      guard unsafe uc_canonical_decomposition(scalar.value, &first) > 0 else { return nil }
      var formD = [scalar.value]
      guard unsafe normalize(&formD, CUnistring_form_d()) else { return nil }
      return formD.compactMap(Unicode.Scalar.init)
    #endif
  }

  #if !canImport(Darwin)
    /// - Returns: False if there is not enough memory.
    private static func normalize(_ text: inout [UInt32], _ form: uninorm_t) -> Bool {
      var count = 0
      guard let formed = unsafe u32_normalize(form, text, text.count, nil, &count) else { return false }
      defer { unsafe free(formed) }
      text = unsafe Array(UnsafeBufferPointer(start: formed, count: count))
      return true
    }
  #endif
}
