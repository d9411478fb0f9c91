using System.Collections.Concurrent;

namespace Treepie.Storage.Paging;

/// <summary>
/// Pages of the file that were found damaged on disk after they had been verified, and why. Reading one fails, whatever the
/// system's cache still holds of it, until its number is reused or the page is found to be correct on disk. Thread-safe;
/// almost always empty.
/// </summary>
internal sealed class DamagedPages
{
    private readonly ConcurrentDictionary<long, string> _faults = [];
    private int _count;

    /// <summary>Number of damaged pages.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Returns the fault of a page, or null.</summary>
    public string? Find(long number) =>
        Volatile.Read(ref _count) != 0 && _faults.TryGetValue(number, out string? fault) ? fault : null;

    /// <summary>Records a damaged page; false if it is already recorded.</summary>
    public bool Add(long number, string fault)
    {
        if (!_faults.TryAdd(number, fault))
            return false;

        Interlocked.Increment(ref _count);
        return true;
    }

    /// <summary>Removes a page.</summary>
    public void Remove(long number)
    {
        if (Volatile.Read(ref _count) != 0 && _faults.TryRemove(number, out _))
            Interlocked.Decrement(ref _count);
    }

    /// <summary>Whether any page of a run is recorded.</summary>
    public bool IsAnyIn(long first, int pages) =>
        Count != 0 && _faults.Keys.Any(number => number >= first && number < first + pages);

    /// <summary>Removes the pages for which a predicate is true.</summary>
    public void RemoveWhere(Predicate<long> isOver)
    {
        foreach (long number in All())
            if (isOver(number))
                Remove(number);
    }

    /// <summary>Returns the page numbers in ascending order.</summary>
    public long[] All() => Count == 0 ? [] : [.. _faults.Keys.Order()];
}
