using System.Buffers;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Replaces texts by others; of several texts at one place, the longest.</summary>
internal sealed class MapFilter : CharacterFilter
{
    /// <summary>The pairs in the order of the bytes they replace.</summary>
    private readonly (byte[] From, byte[] To)[] _pairs;

    /// <summary>For each pair the longest other one that it begins with, -1 if there is none.</summary>
    private readonly int[] _shorter;
    private readonly SearchValues<byte> _first;

    /// <param name="pairs">The texts to replace, none of them empty, with their replacements. Of equal texts the first
    /// counts.</param>
    public MapFilter(IEnumerable<(byte[] From, byte[] To)> pairs)
    {
        var known = new SortedDictionary<byte[], byte[]>(
            Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other)));
        foreach ((byte[] from, byte[] to) in pairs)
            known.TryAdd(from, to);
        _pairs = [.. known.Select(static pair => (pair.Key, pair.Value))];
        _shorter = new int[_pairs.Length];
        for (int i = 0; i < _pairs.Length; i++)
            _shorter[i] = LongestStartOf(_pairs[i].From, i - 1);
        _first = SearchValues.Create([.. _pairs.Select(static pair => pair.From[0]).Distinct()]);
    }

    public override bool SuitsPieces => true;

    public override void Apply(ReadOnlySpan<byte> text, FilteredText result)
    {
        int copied = 0;
        int place = 0;
        while (text[place..].IndexOfAny(_first) is int next and >= 0)
        {
            place += next;
            if (Find(text[place..]) is not { } pair)
            {
                place++;
                continue;
            }

            result.Copy(text[copied..place]);
            result.Replace(place, pair.From.Length, pair.To);
            place += pair.From.Length;
            copied = place;
        }

        result.Copy(text[copied..]);
    }

    private (byte[] From, byte[] To)? Find(ReadOnlySpan<byte> text)
    {
        int low = 0, high = _pairs.Length;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (text.SequenceCompareTo(_pairs[middle].From) >= 0)
                low = middle + 1;
            else
                high = middle;
        }

        return LongestStartOf(text, low - 1) is var found and >= 0 ? _pairs[found] : null;
    }

    /// <summary>
    /// Returns the longest pair that a text begins with, -1 if there is none. In the order of bytes, what begins with a text
    /// comes directly behind it: so that pair is <paramref name="last"/>, the last one not behind the text, or one of its own
    /// starts.
    /// </summary>
    private int LongestStartOf(ReadOnlySpan<byte> text, int last)
    {
        while (last >= 0 && !text.StartsWith(_pairs[last].From))
            last = _shorter[last];
        return last;
    }
}
