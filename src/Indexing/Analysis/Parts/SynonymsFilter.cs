using System.Collections.Frozen;
using System.Text;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// Adds to a word the other words of its group, at its position. Documents are indexed with all of them, so a query that
/// names any of them finds these documents without synonyms of its own.
/// </summary>
internal sealed class SynonymsFilter : TermFilter
{
    /// <summary>Longest word in UTF-8.</summary>
    public const int MaxWordBytes = 128;

    private readonly FrozenDictionary<string, byte[][]> _others;

    /// <param name="groups">Words with the same meaning; no word is in two groups.</param>
    public SynonymsFilter(IEnumerable<string[]> groups) => _others = groups
        .SelectMany(static group => group.Select(word => (Word: word, Others: OthersOf(word, group))))
        .ToFrozenDictionary(static pair => pair.Word, static pair => pair.Others, StringComparer.Ordinal);

    public override TermFilter? ForQueries => null;

    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        chain.Pass(term, place + 1);
        if (term.Length > MaxWordBytes)
            return;

        Span<char> text = stackalloc char[MaxWordBytes];
        text = text[..Encoding.UTF8.GetChars(term, text)];
        if (_others.GetAlternateLookup<ReadOnlySpan<char>>().TryGetValue(text, out byte[][]? others))
            foreach (byte[] other in others)
                chain.Pass(other, place + 1);
    }

    private static byte[][] OthersOf(string word, string[] group) =>
        [.. group.Where(other => other != word).Select(Encoding.UTF8.GetBytes)];
}
