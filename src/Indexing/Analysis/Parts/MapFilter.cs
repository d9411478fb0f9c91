using System.Buffers;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Replaces texts by others; of several texts at one place, the longest.</summary>
internal sealed class MapFilter : CharacterFilter
{
    private readonly (byte[] From, byte[] To)[] _pairs;
    private readonly SearchValues<byte> _first;

    /// <param name="pairs">The texts to replace, none of them empty, with their replacements.</param>
    public MapFilter(IEnumerable<(byte[] From, byte[] To)> pairs)
    {
        _pairs = [.. pairs.OrderByDescending(static pair => pair.From.Length)];
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
        foreach ((byte[] From, byte[] To) pair in _pairs)
            if (text.StartsWith(pair.From))
                return pair;
        return null;
    }
}
