using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Indexing.Analysis;

namespace Treepie.Indexing.Automata;

/// <summary>
/// A set of Unicode characters, as ascending ranges. Immutable. Surrogates are not characters. Invariant: 1. Bounds ascend
/// strictly, and their number is even.
/// </summary>
internal sealed class CharacterSet : IEquatable<CharacterSet>
{
    private const int FirstSurrogate = 0xD800;
    private const int BehindSurrogates = 0xE000;
    private const int BehindAll = 0x110000;

    private static readonly Lazy<CharacterSet> _lazyDigits = new(() => OfRunes(Rune.IsDigit));
    private static readonly Lazy<CharacterSet> _lazySpaces = new(() => OfRunes(Rune.IsWhiteSpace));
    private static readonly Lazy<CharacterSet> _lazyWord = new(() => OfRunes(IsOfWord));
    private static readonly Lazy<CharacterSet> _lazyCased = new(() => OfRunes(rune => CaseFolding.Fold(rune) != rune));

    /// <summary>The first character of each range at even indexes, and the character after its last at odd indexes.</summary>
    private readonly int[] _bounds;

    private CharacterSet(int[] bounds)
    {
        Debug.Assert((bounds.Length & 1) == 0, "1: each range has an end");
        Debug.Assert(bounds.Zip(bounds.Skip(1)).All(static pair => pair.First < pair.Second), "1: bounds ascend");
        _bounds = bounds;
    }

    /// <summary>No character.</summary>
    public static CharacterSet None { get; } = new([]);

    /// <summary>Every character.</summary>
    public static CharacterSet Any { get; } = new([0, FirstSurrogate, BehindSurrogates, BehindAll]);

    /// <summary>Decimal digits of all scripts.</summary>
    public static CharacterSet Digits => _lazyDigits.Value;

    /// <summary>White space.</summary>
    public static CharacterSet Spaces => _lazySpaces.Value;

    /// <summary>Word characters: letters, marks, decimal digits, connectors such as the underscore.</summary>
    public static CharacterSet WordCharacters => _lazyWord.Value;

    public bool IsEmpty => _bounds.Length == 0;

    /// <summary>The starts and exclusive ends of ranges.</summary>
    public ReadOnlySpan<int> Bounds => _bounds;

    public static CharacterSet Of(int character) => OfRange(character, character);

    /// <summary>The characters of an inclusive range.</summary>
    public static CharacterSet OfRange(int first, int last) => Normal([(first, last + 1)]);

    /// <summary>
    /// The characters of a general category: <c>L</c>, <c>Lu</c>, <c>Nd</c>, …; null if the name is unknown.
    /// </summary>
    public static CharacterSet? OfCategory(string name)
    {
        UnicodeCategory[] wanted =
            [.. Enum.GetValues<UnicodeCategory>().Where(category => Short(category).StartsWith(name, StringComparison.Ordinal))];
        return name.Length is 0 or > 2 || wanted.Length == 0
            ? null
            : OfRunes(rune => Array.IndexOf(wanted, Rune.GetUnicodeCategory(rune)) >= 0);
    }

    public bool Contains(int character)
    {
        int place = Array.BinarySearch(_bounds, character);
        return place >= 0 ? (place & 1) == 0 : (~place & 1) == 1;
    }

    public CharacterSet Union(CharacterSet other) => Normal([.. Ranges(), .. other.Ranges()]);

    /// <summary>All characters that are not in the set.</summary>
    public CharacterSet Complement()
    {
        var ranges = new List<(int, int)>();
        int from = 0;
        foreach ((int first, int end) in Ranges())
        {
            ranges.Add((from, first));
            from = end;
        }

        ranges.Add((from, BehindAll));
        return Normal(ranges);
    }

    /// <summary>Returns the set after simple case folding of its characters.</summary>
    public CharacterSet Folded()
    {
        // Few characters have case; all others remain unchanged.
        var ranges = new List<(int, int)>();
        foreach ((int first, int end) in Ranges())
        {
            int from = first;
            foreach (int cased in _lazyCased.Value.Characters(first, end))
            {
                ranges.Add((from, cased));
                int folded = CaseFolding.Fold(new Rune(cased)).Value;
                ranges.Add((folded, folded + 1));
                from = cased + 1;
            }

            ranges.Add((from, end));
        }

        return Normal(ranges);
    }

    public bool Equals(CharacterSet? other) => other is not null && _bounds.AsSpan().SequenceEqual(other._bounds);

    public override bool Equals(object? obj) => Equals(obj as CharacterSet);

    public override int GetHashCode()
    {
        var hash = default(HashCode);
        foreach (int bound in _bounds)
            hash.Add(bound);
        return hash.ToHashCode();
    }

    private IEnumerable<(int First, int End)> Ranges()
    {
        for (int i = 0; i < _bounds.Length; i += 2)
            yield return (_bounds[i], _bounds[i + 1]);
    }

    private IEnumerable<int> Characters(int from, int end)
    {
        int place = Array.BinarySearch(_bounds, from);
        for (int i = (place < 0 ? ~place : place) & ~1; i < _bounds.Length && _bounds[i] < end; i += 2)
        {
            for (int character = Math.Max(from, _bounds[i]); character < Math.Min(end, _bounds[i + 1]); character++)
                yield return character;
        }
    }

    private static CharacterSet OfRunes(Func<Rune, bool> test)
    {
        var ranges = new List<(int, int)>();
        for (int value = 0; value < BehindAll; value++)
        {
            if (Rune.IsValid(value) && test(new Rune(value)))
                ranges.Add((value, value + 1));
        }

        return Normal(ranges);
    }

    /// <summary>Normalises ranges, which may be in any order, overlap or be empty.</summary>
    private static CharacterSet Normal(List<(int First, int End)> ranges)
    {
        ranges.Sort();
        var bounds = new List<int>();
        foreach ((int first, int end) in ranges)
        {
            Append(bounds, first, Math.Min(end, FirstSurrogate));
            Append(bounds, Math.Max(first, BehindSurrogates), Math.Min(end, BehindAll));
        }

        return new CharacterSet([.. bounds]);
    }

    private static void Append(List<int> bounds, int first, int end)
    {
        if (first >= end)
            return;
        if (bounds.Count > 0 && first <= bounds[^1])
        {
            bounds[^1] = Math.Max(bounds[^1], end);
            return;
        }

        bounds.Add(first);
        bounds.Add(end);
    }

    private static bool IsOfWord(Rune rune) => Rune.GetUnicodeCategory(rune) is <= UnicodeCategory.NonSpacingMark
        or UnicodeCategory.DecimalDigitNumber or UnicodeCategory.ConnectorPunctuation;

    private static string Short(UnicodeCategory category) => category switch
    {
        UnicodeCategory.UppercaseLetter => "Lu",
        UnicodeCategory.LowercaseLetter => "Ll",
        UnicodeCategory.TitlecaseLetter => "Lt",
        UnicodeCategory.ModifierLetter => "Lm",
        UnicodeCategory.OtherLetter => "Lo",
        UnicodeCategory.NonSpacingMark => "Mn",
        UnicodeCategory.SpacingCombiningMark => "Mc",
        UnicodeCategory.EnclosingMark => "Me",
        UnicodeCategory.DecimalDigitNumber => "Nd",
        UnicodeCategory.LetterNumber => "Nl",
        UnicodeCategory.OtherNumber => "No",
        UnicodeCategory.SpaceSeparator => "Zs",
        UnicodeCategory.LineSeparator => "Zl",
        UnicodeCategory.ParagraphSeparator => "Zp",
        UnicodeCategory.Control => "Cc",
        UnicodeCategory.Format => "Cf",
        UnicodeCategory.Surrogate => "Cs",
        UnicodeCategory.PrivateUse => "Co",
        UnicodeCategory.ConnectorPunctuation => "Pc",
        UnicodeCategory.DashPunctuation => "Pd",
        UnicodeCategory.OpenPunctuation => "Ps",
        UnicodeCategory.ClosePunctuation => "Pe",
        UnicodeCategory.InitialQuotePunctuation => "Pi",
        UnicodeCategory.FinalQuotePunctuation => "Pf",
        UnicodeCategory.OtherPunctuation => "Po",
        UnicodeCategory.MathSymbol => "Sm",
        UnicodeCategory.CurrencySymbol => "Sc",
        UnicodeCategory.ModifierSymbol => "Sk",
        UnicodeCategory.OtherSymbol => "So",
        _ => "Cn",
    };
}
