using System.Globalization;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Automata;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Automata;

/// <summary>Sets of characters against one bit for each character of Unicode.</summary>
public sealed class CharacterSetTests
{
    private const int Characters = 0x110000;

    /// <summary>The ends of all ranges that code might treat specially.</summary>
    private static readonly int[] _edges =
        [0, 1, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FE, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xE001, 0xFFFF, 0x10000, 0x10FFFE, 0x10FFFF];

    [Fact]
    public void Unions_and_complements_hold_what_bits_say()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 40; round++)
        {
            (CharacterSet set, bool[] bits) = (CharacterSet.None, new bool[Characters]);
            for (int step = random.Next(1, 8); step > 0; step--)
            {
                if (random.Next(4) == 0)
                {
                    set = set.Complement();
                    bits = [.. bits.Select((isIn, character) => !isIn && Rune.IsValid(character))];
                    continue;
                }

                (int first, int last) = (Character(random), Character(random));
                if (first > last)
                    (first, last) = (last, first);
                set = set.Union(CharacterSet.OfRange(first, last));
                for (int character = first; character <= last; character++)
                    bits[character] |= Rune.IsValid(character);
            }

            AssertSame(bits, set, $"seed {seed}, round {round}");
            Assert.Equal(set, set.Complement().Complement());
            Assert.Equal(CharacterSet.Any, set.Union(set.Complement()));
            Assert.Equal(Array.TrueForAll(bits, isIn => !isIn), set.IsEmpty);
        }
    }

    [Fact]
    public void A_folded_set_holds_the_folded_forms_of_its_characters_and_no_others()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 12; round++)
        {
            CharacterSet set = CharacterSet.None;
            for (int i = random.Next(1, 4); i > 0; i--)
            {
                int first = random.Next(3) == 0 ? Character(random) : random.Next(0x20, 0x600);
                set = set.Union(CharacterSet.OfRange(first, Math.Min(Characters - 1, first + random.Next(300))));
            }

            bool[] bits = new bool[Characters];
            for (int character = 0; character < Characters; character++)
                if (set.Contains(character))
                    bits[CaseFolding.Fold(new Rune(character)).Value] = true;
            AssertSame(bits, set.Folded(), $"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void Classes_and_categories_hold_what_the_platform_says()
    {
        AssertSame(Bits(Rune.IsDigit), CharacterSet.Digits, "digits");
        AssertSame(Bits(Rune.IsWhiteSpace), CharacterSet.Spaces, "spaces");
        AssertSame(
            Bits(rune => Rune.IsLetter(rune) || Rune.IsDigit(rune)
                || Rune.GetUnicodeCategory(rune) is UnicodeCategory.NonSpacingMark or UnicodeCategory.ConnectorPunctuation),
            CharacterSet.WordCharacters, "word characters");
        AssertSame(
            Bits(rune => Rune.GetUnicodeCategory(rune) == UnicodeCategory.LetterNumber), CharacterSet.OfCategory("Nl"), "Nl");
        AssertSame(Bits(Rune.IsPunctuation), CharacterSet.OfCategory("P"), "P");
        AssertSame(Bits(Rune.IsSymbol), CharacterSet.OfCategory("S"), "S");
        foreach (string unknown in new[] { "", "l", "LU", "Lul", "X", "L " })
            Assert.Null(CharacterSet.OfCategory(unknown));
    }

    private static bool[] Bits(Func<Rune, bool> isIn) =>
        [.. Enumerable.Range(0, Characters).Select(character => Rune.IsValid(character) && isIn(new Rune(character)))];

    private static int Character(Random random) =>
        random.Next(3) == 0 ? random.Next(Characters) : _edges[random.Next(_edges.Length)];

    private static void AssertSame(bool[] bits, CharacterSet? set, string what)
    {
        Assert.NotNull(set);
        for (int character = 0; character < Characters; character++)
            if (bits[character] != set.Contains(character))
                Assert.Fail($"{what}: U+{character:X4} is {(bits[character] ? "" : "not ")}in it");
        for (int i = 1; i < set.Bounds.Length; i++)
            Assert.True(set.Bounds[i - 1] < set.Bounds[i], $"{what}: bounds do not ascend");
    }
}
