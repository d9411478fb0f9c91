using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// The positions of one term in one entry, those of several terms being looked at together: a part of a
/// <see cref="PositionTable"/>, or a copy. Scratch.
/// </summary>
internal sealed class PositionList
{
    private int[] _copy = [];
    private int[] _source = [];
    private int _start;

    public int Count { get; private set; }

    public ReadOnlySpan<int> Span => _source.AsSpan(_start, Count);

    /// <summary>Copies positions.</summary>
    public void Set(ReadOnlySpan<int> ascending)
    {
        if (_copy.Length < ascending.Length)
            _copy = new int[Math.Max(ascending.Length, Math.Max(16, _copy.Length * 2))];
        ascending.CopyTo(_copy);
        (_source, _start, Count) = (_copy, 0, ascending.Length);
    }

    /// <summary>Stands for the positions of one of the entries of a table, as long as that is not filled anew.</summary>
    public void Set(PositionTable table, int entry)
    {
        _source = table.Values;
        _start = table.Starts[entry];
        Count = table.Starts[entry + 1] - _start;
    }
}
