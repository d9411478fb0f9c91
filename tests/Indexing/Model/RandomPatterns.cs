using System.Text;

namespace Treepie.Indexing.Tests.Model;

/// <summary>Patterns and texts from a small alphabet, so that they meet.</summary>
public sealed class RandomPatterns(Random random)
{
    private static readonly string[] _letters = ["a", "b", "c", "w", "1", "2", "ä", "σ", "\U0001F600"];

    public string Text() => string.Concat(Enumerable.Range(0, random.Next(10)).Select(_ => Letter()));

    /// <summary>A text with some edits.</summary>
    public string Edited(string text)
    {
        var runes = text.EnumerateRunes().ToList();
        for (int edits = random.Next(5); edits > 0; edits--)
        {
            int place = random.Next(runes.Count + 1);
            switch (random.Next(4))
            {
                case 0:
                    runes.Insert(place, Rune.GetRuneAt(Letter(), 0));
                    break;
                case 1 when place < runes.Count:
                    runes.RemoveAt(place);
                    break;
                case 2 when place < runes.Count:
                    runes[place] = Rune.GetRuneAt(Letter(), 0);
                    break;
                case 3 when place + 1 < runes.Count:
                    (runes[place], runes[place + 1]) = (runes[place + 1], runes[place]);
                    break;
            }
        }

        return string.Concat(runes);
    }

    public string Wildcard() => string.Concat(Enumerable.Range(0, random.Next(7)).Select(_ => random.Next(5) switch
    {
        0 => "*",
        1 => "?",
        2 when random.Next(4) == 0 => "\\" + Letter(),
        _ => Letter(),
    }));

    public string Regex() => (random.Next(3) == 0 ? "^" : "") + Choice(3) + (random.Next(3) == 0 ? "$" : "");

    /// <summary>Characters above U+FFFF are two to the platform: none of them here.</summary>
    private string Choice(int depth)
    {
        int parts = depth == 0 || random.Next(3) > 0 ? 1 : random.Next(2, 4);
        return string.Join(
            '|',
            Enumerable.Range(0, parts)
                .Select(_ => string.Concat(Enumerable.Range(0, random.Next(1, 4)).Select(_ => Repeated(depth)))));
    }

    private string Repeated(int depth)
    {
        string atom = depth > 0 && random.Next(3) == 0 ? $"({Choice(depth - 1)})" : random.Next(8) switch
        {
            0 => "[ab]",
            1 => "[^b1]",
            2 => "[a-c2]",
            3 => @"\d",
            4 => @"\w",
            _ => _letters[random.Next(_letters.Length - 1)],
        };
        return atom + random.Next(10) switch { 0 => "*", 1 => "+", 2 => "?", 3 => "{2}", 4 => "{1,2}", 5 => "*?", _ => "" };
    }

    private string Letter() => _letters[random.Next(_letters.Length)];
}
