using System.Collections;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>
/// The entries a filter matches, computed once so that a search visiting entries in random order tests one bit for each.
/// Uses 512 bytes per window of 4,096 entries.
/// </summary>
internal sealed class FilteredEntries : IEnumerable<long>
{
    private readonly SortedList<long, WindowSet> _windows = [];
    private long _lastWindow = -1;
    private WindowSet? _lastSet;

    public FilteredEntries(QueryContext context, Operator filter)
    {
        for (long window = filter.Next(0); window != Operator.End; window = filter.Next(window + 1))
        {
            context.Check();
            var set = new WindowSet();
            filter.Fill(window, set);
            int count = set.Count;
            if (count == 0)
                continue;
            _windows.Add(window, set);
            Count += count;
        }
    }

    /// <summary>Number of entries.</summary>
    public long Count { get; }

    public bool Contains(long id)
    {
        long window = id >> PostingWindow.SizeBits;
        if (window != _lastWindow)
        {
            _lastWindow = window;
            _lastSet = _windows.GetValueOrDefault(window);
        }

        return _lastSet is not null && _lastSet.Contains((int)(id & (PostingWindow.Size - 1)));
    }

    /// <summary>Enumerates the entries, ascending.</summary>
    public IEnumerator<long> GetEnumerator()
    {
        ushort[] offsets = new ushort[PostingWindow.Size];
        foreach ((long window, WindowSet set) in _windows)
        {
            int count = set.CopyTo(offsets);
            for (int i = 0; i < count; i++)
                yield return (window << PostingWindow.SizeBits) + offsets[i];
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
