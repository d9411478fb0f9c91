using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// The positions of one term in one entry: a slice of a <see cref="PositionTable"/>, or a copy. Reused for each entry.
/// </summary>
internal sealed class PositionList
{
    private int[] _copy = [];
    private int[] _source = [];
    private int _start;

    public int Count { get; private set; }

    public ReadOnlySpan<int> Span => _source.AsSpan(_start, Count);

    /// <summary>Holds a copy of positions.</summary>
    public void Set(ReadOnlySpan<int> ascending)
    {
        if (_copy.Length < ascending.Length)
            _copy = new int[Math.Max(ascending.Length, Math.Max(16, _copy.Length * 2))];
        ascending.CopyTo(_copy);
        (_source, _start, Count) = (_copy, 0, ascending.Length);
    }

    /// <summary>Refers to the positions of one entry of a table, valid until the table is refilled.</summary>
    public void Set(PositionTable table, int entry)
    {
        _source = table.Values;
        _start = table.Starts[entry];
        Count = table.Starts[entry + 1] - _start;
    }
}
