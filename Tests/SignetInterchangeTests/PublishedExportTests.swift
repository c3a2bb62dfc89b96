import Foundation
import SignetCrypto
import SignetInterchange
import SignetOATH
import Testing

/// Files in the form that the apps write.
///
/// The Aegis project has exports of these apps among the tests of its importers (<https://github.com/beemdevelopment/Aegis>,
/// `app/src/test/resources/com/beemdevelopment/aegis/importers`). They are not in this repository. Its own files have the same
/// form: the same members, in the same order, with values of the same types.
@Suite struct PublishedExportTests {
  // MARK: The same form, with accounts of our own

  private static func expected() throws -> [OTPAccount] {
    [
      try SampleAccounts.account("Northwind", "alice", secret: Array(0..<16)),
      try SampleAccounts.account(
        "Harbour", "bob", .totp(period: 20), algorithm: .sha256, digits: 7, secret: Array(16..<32)),
      try SampleAccounts.account(
        "Old Mill", "carol", .hotp(counter: 10_300), algorithm: .sha512, digits: 8, secret: Array(0xF0...0xFF)
      ),
    ]
  }

  /// `aegis_plain.json`: version 1 of the database.
  private static let aegis = """
    {
        "version": 1,
        "header": {
            "slots": null,
            "params": null
        },
        "db": {
            "version": 1,
            "entries": [
                {
                    "type": "totp",
                    "uuid": "0a6e9d3e-0f7c-4d7c-9d5e-5a0f6f6f0001",
                    "name": "alice",
                    "issuer": "Northwind",
                    "icon": null,
                    "info": {
                        "secret": "AAAQEAYEAUDAOCAJBIFQYDIOB4",
                        "algo": "SHA1",
                        "digits": 6,
                        "period": 30
                    }
                },
                {
                    "type": "totp",
                    "uuid": "0a6e9d3e-0f7c-4d7c-9d5e-5a0f6f6f0002",
                    "name": "bob",
                    "issuer": "Harbour",
                    "icon": null,
                    "info": {
                        "secret": "CAIREEYUCULBOGAZDINRYHI6D4",
                        "algo": "SHA256",
                        "digits": 7,
                        "period": 20
                    }
                },
                {
                    "type": "hotp",
                    "uuid": "0a6e9d3e-0f7c-4d7c-9d5e-5a0f6f6f0003",
                    "name": "carol",
                    "issuer": "Old Mill",
                    "icon": null,
                    "info": {
                        "secret": "6DY7F47U6X3PP6HZ7L57Z7P674",
                        "algo": "SHA512",
                        "digits": 8,
                        "counter": 10300
                    }
                },
                {
                    "type": "steam",
                    "uuid": "0a6e9d3e-0f7c-4d7c-9d5e-5a0f6f6f0004",
                    "name": "dora",
                    "issuer": "Games",
                    "icon": null,
                    "info": {
                        "secret": "IBAUEQ2EIVDEOSCJJJFUYTKOJ4",
                        "algo": "SHA1",
                        "digits": 5,
                        "period": 30
                    }
                }
            ]
        }
    }
    """

  /// `andotp_plain.json`: padded secrets, and neither period nor counter where the kind has none.
  private static let andOTP = """
    [{"secret":"AAAQEAYEAUDAOCAJBIFQYDIOB4======","issuer":"Northwind","label":"alice","digits":6,"type":"TOTP",\
    "algorithm":"SHA1","thumbnail":"Default","last_used":1608146844162,"used_frequency":0,"period":30,"tags":[]},\
    {"secret":"CAIREEYUCULBOGAZDINRYHI6D4======","issuer":"Harbour","label":"bob","digits":7,"type":"TOTP",\
    "algorithm":"SHA256","thumbnail":"AirBNB","last_used":1608146848740,"used_frequency":0,"period":20,"tags":[]},\
    {"secret":"6DY7F47U6X3PP6HZ7L57Z7P674======","issuer":"Old Mill","label":"carol","digits":8,"type":"HOTP",\
    "algorithm":"SHA512","thumbnail":"Default","last_used":1608146871644,"used_frequency":0,"counter":10300,"tags":[]},\
    {"secret":"IBAUEQ2EIVDEOSCJJJFUYTKOJ4======","issuer":"Games","label":"dora","digits":5,"type":"STEAM",\
    "algorithm":"SHA1","thumbnail":"Default","last_used":1608146877325,"used_frequency":0,"tags":[]}]
    """

  /// `2fas_authenticator_plain_v4.2fas`: schema 4, with the link that the account came from.
  private static let twoFAS = """
    {"services":[{"name":"Northwind","secret":"AAAQEAYEAUDAOCAJBIFQYDIOB4","updatedAt":1702934567518,"otp":{\
    "link":"otpauth://totp/Northwind:alice?secret=AAAQEAYEAUDAOCAJBIFQYDIOB4&issuer=Northwind&algorithm=SHA1&digits=6&period=30",\
    "label":"alice","account":"alice","issuer":"Northwind","digits":6,"period":30,"algorithm":"SHA1","tokenType":"TOTP",\
    "source":"Link"},"order":{"position":0},"icon":{"selected":"Label","label":{"text":"NO","backgroundColor":"Yellow"},\
    "iconCollection":{"id":"a5b3fb65-4ec5-43e6-8ec1-49e24ca9e7ad"}}},{"name":"Harbour","secret":"CAIREEYUCULBOGAZDINRYHI6D4",\
    "updatedAt":1702934586420,"otp":{"link":"otpauth://totp/Harbour:bob?secret=CAIREEYUCULBOGAZDINRYHI6D4&issuer=Harbour&algorithm=SHA256&digits=7&period=20",\
    "label":"bob","account":"bob","issuer":"Harbour","digits":7,"period":20,"algorithm":"SHA256","tokenType":"TOTP",\
    "source":"Link"},"order":{"position":1},"icon":{"selected":"Label","label":{"text":"HA","backgroundColor":"Brown"},\
    "iconCollection":{"id":"a5b3fb65-4ec5-43e6-8ec1-49e24ca9e7ad"}}},{"name":"Old Mill","secret":"6DY7F47U6X3PP6HZ7L57Z7P674",\
    "updatedAt":1702934590910,"otp":{"link":"otpauth://hotp/Old%20Mill:carol?secret=6DY7F47U6X3PP6HZ7L57Z7P674&issuer=Old+Mill&algorithm=SHA512&digits=8&counter=10300",\
    "label":"carol","account":"carol","issuer":"Old Mill","digits":8,"algorithm":"SHA512","counter":10300,"tokenType":"HOTP",\
    "source":"Link"},"order":{"position":2},"icon":{"selected":"Label","label":{"text":"OL","backgroundColor":"Default"},\
    "iconCollection":{"id":"a5b3fb65-4ec5-43e6-8ec1-49e24ca9e7ad"}}},{"name":"Games","secret":"IBAUEQ2EIVDEOSCJJJFUYTKOJ4",\
    "updatedAt":1702934600248,"otp":{"link":"otpauth://steam/Games:dora?secret=IBAUEQ2EIVDEOSCJJJFUYTKOJ4&issuer=Games&algorithm=SHA1&digits=5&period=30",\
    "label":"dora","account":"dora","issuer":"Games","digits":5,"period":30,"algorithm":"SHA1","tokenType":"STEAM",\
    "source":"Link"},"order":{"position":3},"icon":{"selected":"Label","label":{"text":"GA","backgroundColor":"Pink"},\
    "iconCollection":{"id":"a5b3fb65-4ec5-43e6-8ec1-49e24ca9e7ad"}}}],"groups":[],"updatedAt":1702934732299,\
    "schemaVersion":4,"appVersionCode":5000009,"appVersionName":"5.1.0","appOrigin":"android"}
    """

  /// `freeotp_plus.json`: signed bytes, a period for HOTP and a counter for TOTP as well, and the counter of the last code.
  private static let freeOTP = """
    {"tokenOrder":["Northwind:alice","Harbour:bob","Old Mill:carol"],"tokens":[{"algo":"SHA1","counter":0,"digits":6,\
    "issuerExt":"Northwind","issuerInt":"Northwind","label":"alice","period":30,\
    "secret":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],"type":"TOTP"},{"algo":"SHA256","counter":0,"digits":7,\
    "issuerExt":"Harbour","issuerInt":"Harbour","label":"bob","period":20,\
    "secret":[16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31],"type":"TOTP"},{"algo":"SHA512","counter":10299,"digits":8,\
    "issuerExt":"Old Mill","issuerInt":"Old Mill","label":"carol","period":30,\
    "secret":[-16,-15,-14,-13,-12,-11,-10,-9,-8,-7,-6,-5,-4,-3,-2,-1],"type":"HOTP"}]}
    """

  @Test(
    "published export files are read completely; other kinds than HOTP and TOTP are named",
    arguments: [
      (InterchangeFormat.aegis, aegis, 1), (.andOTP, andOTP, 1), (.twoFAS, twoFAS, 1), (.freeOTP, freeOTP, 0),
    ])
  func sameForm(_ format: InterchangeFormat, _ text: String, _ skipped: Int) throws {
    let imported = try AccountFile.read(Array(text.utf8))
    #expect(imported.format == format)
    #expect(imported.accounts.facts == (try Self.expected().facts))
    #expect(imported.skipped.count == skipped)
    for account in imported.skipped {
      #expect(account.title.hasPrefix("Games"))
      guard case .unsupportedType = account.reason else {
        Issue.record("\(account.reason)")
        continue
      }
    }
  }

  // MARK: The files themselves

  /// The folder of the exports, if available: below the folder of shared vectors.
  private static let folder: String? = {
    let vectors = ProcessInfo.processInfo.environment["SIGNET_VECTORS"] ?? "../shared/vectors"
    return FileManager.default.fileExists(atPath: "\(vectors)/exports") ? "\(vectors)/exports" : nil
  }()
  private static let names = [
    "aegis_encrypted.json", "andotp_plain.json", "andotp_encrypted.bin", "2fas_authenticator_plain_v3.2fas",
    "2fas_authenticator_plain_v4.2fas", "2fas_authenticator_encrypted_v3.2fas",
    "2fas_authenticator_encrypted_v4.2fas", "freeotp_plus.json",
  ]

  private static func read(_ name: String) throws -> ImportedAccounts {
    let bytes = Array(try Data(contentsOf: URL(filePath: "\(#require(folder))/\(name)")))
    // The password is from the Aegis project's tests.
    let isEncrypted = name.contains("encrypted")
    return try AccountFile.read(bytes, password: isEncrypted ? SampleAccounts.box("test") : nil)
  }

  @Test(
    "the published exports of different apps give the same accounts",
    .enabled(if: folder != nil, "the shared vectors hold no published exports"), arguments: names
  )
  func published(_ name: String) throws {
    let all = try Self.read("aegis_plain.json").accounts
    #expect(all.count == 6)
    let imported = try Self.read(name)
    #expect(imported.accounts.count >= 4)
    for account in imported.accounts {
      let same = try #require(all.first { $0.issuer == account.issuer && $0.name == account.name }, "\(name)")
      #expect([account].facts == [same].facts)
    }
    for account in imported.skipped {
      guard case .unsupportedType = account.reason else {
        Issue.record("\(account.title): \(account.reason)")
        continue
      }
    }
  }
}
