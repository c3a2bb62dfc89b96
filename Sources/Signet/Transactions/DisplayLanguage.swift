/// A language for the device's own words around a transaction.
public enum DisplayLanguage: String, Hashable, Sendable, CaseIterable {
  /// English.
  case english = "en"
  /// German.
  case german = "de"
  /// French.
  case french = "fr"
  /// Spanish.
  case spanish = "es"

  /// Creates a language from the name of a locale, such as `de_CH.UTF-8` or `fr-CA`; English for any other.
  public init(locale: String) {
    self = Self(rawValue: String(locale.prefix { $0.isLetter }).lowercased()) ?? .english
  }

  /// The device's own words.
  enum Word: Int {
    case question, payment, login, amount, payee, account, date, place, browser, address, from
  }

  func word(_ word: Word) -> String { words[word.rawValue] }

  /// The title of a form: a translated word for a known template, otherwise the template's name.
  func title(of template: String) -> String {
    switch template {
    case "payment": word(.payment)
    case "login": word(.login)
    default: template
    }
  }

  /// The words, in the order of ``Word``.
  private var words: [String] {
    switch self {
    case .english:
      [
        "Question", "Payment", "Sign-in", "Amount", "Payee", "Account", "Date", "Place", "Browser", "Address",
        "From",
      ]
    case .german:
      [
        "Frage", "Zahlung", "Anmeldung", "Betrag", "Empfänger", "Konto", "Datum", "Ort", "Browser", "Adresse",
        "Von",
      ]
    case .french:
      [
        "Question", "Paiement", "Connexion", "Montant", "Bénéficiaire", "Compte", "Date", "Lieu",
        "Navigateur", "Adresse", "De",
      ]
    case .spanish:
      [
        "Pregunta", "Pago", "Inicio de sesión", "Importe", "Beneficiario", "Cuenta", "Fecha", "Lugar",
        "Navegador", "Dirección", "De",
      ]
    }
  }
}
