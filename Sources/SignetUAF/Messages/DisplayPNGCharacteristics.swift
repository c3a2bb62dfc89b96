package import SignetJSON

/// The requirements for a picture that an authenticator can display (PNG's IHDR and PLTE).
package struct DisplayPNGCharacteristics: Hashable, Sendable {
  package struct Colour: Hashable, Sendable {
    package let red: UInt16
    package let green: UInt16
    package let blue: UInt16

    package init(red: UInt16, green: UInt16, blue: UInt16) {
      self.red = red
      self.green = green
      self.blue = blue
    }

    init(_ reader: DictionaryReader) throws(MessageFailure) {
      red = try reader.number("r")
      green = try reader.number("g")
      blue = try reader.number("b")
    }

    var json: JSONObject { ["r": .number(red), "g": .number(green), "b": .number(blue)] }
  }

  package let width: UInt32
  package let height: UInt32
  package let bitDepth: UInt8
  package let colourType: UInt8
  package let compression: UInt8
  package let filter: UInt8
  package let interlace: UInt8
  package let palette: [Colour]

  package init(
    width: UInt32, height: UInt32, bitDepth: UInt8, colourType: UInt8, compression: UInt8 = 0,
    filter: UInt8 = 0, interlace: UInt8 = 0, palette: [Colour] = []
  ) {
    self.width = width
    self.height = height
    self.bitDepth = bitDepth
    self.colourType = colourType
    self.compression = compression
    self.filter = filter
    self.interlace = interlace
    self.palette = palette
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    width = try reader.number("width")
    height = try reader.number("height")
    bitDepth = try reader.number("bitDepth")
    colourType = try reader.number("colorType")
    compression = try reader.number("compression")
    filter = try reader.number("filter")
    interlace = try reader.number("interlace")
    palette =
      try reader.optionalList("plte", maximum: 256) { value, path throws(MessageFailure) in
        try Colour(DictionaryReader(value, path))
      } ?? []
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "width": .number(width), "height": .number(height), "bitDepth": .number(bitDepth),
      "colorType": .number(colourType), "compression": .number(compression), "filter": .number(filter),
      "interlace": .number(interlace),
    ]
    if !palette.isEmpty { object["plte"] = .dictionaries(palette.map(\.json)) }
    return object
  }
}
