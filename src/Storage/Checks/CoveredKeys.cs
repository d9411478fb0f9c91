namespace Treepie.Storage.Checks;

/// <summary>
/// Ranges of keys, ends included, that leaves have spoken for. They never overlap: of two that do only the rest of the later one
/// is added.
/// </summary>
internal sealed class CoveredKeys
{
    private readonly SortedList<byte[], byte[]> _lastByFirst = new(
        Comparer<byte[]>.Create(static (a, b) => a.AsSpan().SequenceCompareTo(b)));

    /// <summary>First and last key of each, in order.</summary>
    public IEnumerable<(byte[] First, byte[] Last)> All => _lastByFirst.Select(static range => (range.Key, range.Value));

    public bool Contains(byte[] key)
    {
        int index = Before(key);
        return index >= 0 && key.AsSpan().SequenceCompareTo(_lastByFirst.Values[index]) <= 0;
    }

    /// <summary>Adds a range; what lies inside or across is swallowed.</summary>
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

    /// <summary>The last range that begins at or before a key, or -1.</summary>
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
