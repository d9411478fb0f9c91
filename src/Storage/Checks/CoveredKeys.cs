namespace Treepie.Storage.Checks;

/// <summary>
/// Key ranges, both ends inclusive, that salvaged leaves cover. The ranges do not overlap: ranges that do are merged.
/// </summary>
internal sealed class CoveredKeys
{
    private readonly SortedList<byte[], byte[]> _lastByFirst = new(
        Comparer<byte[]>.Create(static (a, b) => a.AsSpan().SequenceCompareTo(b)));

    /// <summary>The first and last key of each range, in key order.</summary>
    public IEnumerable<(byte[] First, byte[] Last)> All => _lastByFirst.Select(static range => (range.Key, range.Value));

    public bool Contains(byte[] key)
    {
        int index = Before(key);
        return index >= 0 && key.AsSpan().SequenceCompareTo(_lastByFirst.Values[index]) <= 0;
    }

    /// <summary>Adds a range and merges it with those that it overlaps.</summary>
    public void Add(byte[] first, byte[] last)
    {
        int index = Before(first);
        if (index >= 0 && first.AsSpan().SequenceCompareTo(_lastByFirst.Values[index]) <= 0)
            first = _lastByFirst.Keys[index];
        else
            index++;
        while (index < _lastByFirst.Count && _lastByFirst.Keys[index].AsSpan().SequenceCompareTo(last) <= 0)
        {
            if (_lastByFirst.Values[index].AsSpan().SequenceCompareTo(last) > 0)
                last = _lastByFirst.Values[index];
            _lastByFirst.RemoveAt(index);
        }

        _lastByFirst[first] = last;
    }

    /// <summary>Returns the index of the last range that starts at or before a key, or -1.</summary>
    private int Before(byte[] key)
    {
        int low = 0, high = _lastByFirst.Count;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (_lastByFirst.Keys[middle].AsSpan().SequenceCompareTo(key) <= 0)
                low = middle + 1;
            else
                high = middle;
        }

        return low - 1;
    }
}
