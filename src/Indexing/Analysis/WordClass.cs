using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>Classes of characters for word boundaries, according to UAX #29 (Word_Break).</summary>
internal enum WordClass : byte
{
    /// <summary>Separates words.</summary>
    Other,

    /// <summary>Letters of alphabets, syllabic characters, Hangul.</summary>
    Letter,

    /// <summary>Hebrew letters, between which quotes may occur.</summary>
    Hebrew,

    /// <summary>Decimal digits of any script.</summary>
    Digit,

    /// <summary>Katakana, which joins only itself.</summary>
    Katakana,

    /// <summary>Han and Hiragana, each of which is a word.</summary>
    Ideograph,

    /// <summary>Combining marks and format characters, which belong to the character before.</summary>
    Extend,

    /// <summary>The underscore and similar characters, which join everything.</summary>
    Connector,

    /// <summary>Joins letters: middle dot.</summary>
    MidLetter,

    /// <summary>Joins digits: comma, semicolon.</summary>
    MidNumber,

    /// <summary>Joins letters and digits: apostrophe, full stop.</summary>
    MidBoth,

    /// <summary>Joins Hebrew letters.</summary>
    DoubleQuote,

    /// <summary>Emoji and other pictures, each of which is a word.</summary>
    Picture,

    /// <summary>Half of a flag (regional indicators come in pairs).</summary>
    Flag,
}

/// <summary>Looks up the <see cref="WordClass"/> of a character.</summary>
internal static class WordClasses
{
    public static WordClass Of(Rune rune)
    {
        int value = rune.Value;
        return value < 128 ? OfAscii(value) : OfWide(rune, value);
    }

    private static WordClass OfAscii(int value) => value switch
    {
        (>= 'a' and <= 'z') or (>= 'A' and <= 'Z') => WordClass.Letter,
        >= '0' and <= '9' => WordClass.Digit,
        '_' => WordClass.Connector,
        '\'' or '.' => WordClass.MidBoth,
        ',' or ';' => WordClass.MidNumber,
        '"' => WordClass.DoubleQuote,
        _ => WordClass.Other,
    };

    private static WordClass OfWide(Rune rune, int value)
    {
        switch (value)
        {
            case 0x2018 or 0x2019 or 0x2024 or 0xFE52 or 0xFF07 or 0xFF0E:
                return WordClass.MidBoth;
            case 0x00B7 or 0x0387 or 0x055F or 0x05F4 or 0x2027:
                return WordClass.MidLetter;
            case 0x037E or 0x0589 or 0x060C or 0x060D or 0x066C or 0x07F8 or 0x2044 or 0xFE10 or 0xFE14 or 0xFE50 or 0xFE54
                or 0xFF0C or 0xFF1B:
                return WordClass.MidNumber;
            case 0x200B:
                return WordClass.Other;
            case >= 0x1F1E6 and <= 0x1F1FF:
                return WordClass.Flag;
            case >= 0x1F3FB and <= 0x1F3FF:
                return WordClass.Extend; // skin tones
            case (>= 0x24B6 and <= 0x24E9) or (>= 0x1F130 and <= 0x1F149) or (>= 0x1F150 and <= 0x1F169)
                or (>= 0x1F170 and <= 0x1F189):
                return WordClass.Letter; // letters in circles and squares
        }

        UnicodeCategory category = Rune.GetUnicodeCategory(rune);
        switch (category)
        {
            case UnicodeCategory.NonSpacingMark or UnicodeCategory.SpacingCombiningMark or UnicodeCategory.EnclosingMark
                or UnicodeCategory.Format:
                return WordClass.Extend;
            case UnicodeCategory.ConnectorPunctuation:
                return WordClass.Connector;
            case UnicodeCategory.DecimalDigitNumber:
                return WordClass.Digit;
            case UnicodeCategory.UppercaseLetter or UnicodeCategory.LowercaseLetter or UnicodeCategory.TitlecaseLetter
                or UnicodeCategory.ModifierLetter or UnicodeCategory.OtherLetter or UnicodeCategory.LetterNumber:
                return IsIdeograph(value) ? WordClass.Ideograph
                    : IsKatakana(value) ? WordClass.Katakana
                    : IsHebrew(value) ? WordClass.Hebrew
                    : WordClass.Letter;
            default:
                return IsPicture(value) ? WordClass.Picture : WordClass.Other;
        }
    }

    private static bool IsIdeograph(int value) => value is
        (>= 0x3005 and <= 0x3007) or (>= 0x3021 and <= 0x3029) or (>= 0x3041 and <= 0x309F) or (>= 0x3400 and <= 0x4DBF)
        or (>= 0x4E00 and <= 0x9FFF) or (>= 0xF900 and <= 0xFAFF) or (>= 0x20000 and <= 0x3FFFF);

    private static bool IsHebrew(int value) => value is
        (>= 0x05D0 and <= 0x05F2) or (>= 0xFB1D and <= 0xFB4F and not 0xFB29);

    /// <summary>
    /// Whether a character is in one of the blocks of pictures; symbols in other blocks (©, ™, arrows) separate words.
    /// </summary>
    private static bool IsPicture(int value) => value is
        (>= 0x1F300 and <= 0x1FAFF) or (>= 0x2600 and <= 0x27BF) or (>= 0x1F000 and <= 0x1F0FF) or (>= 0x231A and <= 0x231B)
        or (>= 0x23E9 and <= 0x23F3) or 0x2B50 or 0x2B55 or 0x1F18E or (>= 0x1F191 and <= 0x1F19A) or (>= 0x1F201 and <= 0x1F251);

    private static bool IsKatakana(int value) => value is
        (>= 0x30A0 and <= 0x30FF) or (>= 0x31F0 and <= 0x31FF) or (>= 0xFF66 and <= 0xFF9F);
}
