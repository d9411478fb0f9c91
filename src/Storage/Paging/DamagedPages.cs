using System.Collections.Concurrent;

namespace Treepie.Storage.Paging;

/// <summary>
/// Pages of the file that were found damaged on the disk after they had been proven, and why. Whoever reads one gets the error,
/// whatever the system's cache still holds of it, until its number is used again or the disk is found to have it right.
/// Thread-safe; almost always empty.
/// </summary>
internal sealed class DamagedPages
{
    private readonly ConcurrentDictionary<long, string> _faults = [];
    private int _count;

    /// <summary>How many there are.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>What is wrong with a page, or null.</summary>
    public string? Find(long number) =>
        Volatile.Read(ref _count) != 0 && _faults.TryGetValue(number, out string? fault) ? fault : null;

    /// <summary>Notes a page; false where it is known already.</summary>
    public bool Add(long number, string fault)
    {
        if (!_faults.TryAdd(number, fault))
            return false;

        Interlocked.Increment(ref _count);
        return true;
    }

    /// <summary>Forgets a page.</summary>
    public void Remove(long number)
    {
        if (Volatile.Read(ref _count) != 0 && _faults.TryRemove(number, out _))
            Interlocked.Decrement(ref _count);
    }

    /// <summary>Whether any of the pages of a run is among them.</summary>
    public bool IsAnyIn(long first, int pages) =>
        Count != 0 && _faults.Keys.Any(number => number >= first && number < first + pages);

    /// <summary>Forgets the pages for which something holds.</summary>
    public void RemoveWhere(Predicate<long> isOver)
    {
        foreach (long number in All())
            if (isOver(number))
                Remove(number);
    }

    /// <summary>Their numbers, in order.</summary>
    public long[] All() => Count == 0 ? [] : [.. _faults.Keys.Order()];
}
