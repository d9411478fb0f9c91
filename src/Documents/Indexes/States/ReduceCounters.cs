namespace Treepie.Indexes.States;

/// <summary>
/// Counters of a reduce: for one batch, or for all committed batches. In the latter, calls and errors count since the index
/// was built, the others since it was opened. Written by the reducing thread, read by any.
/// </summary>
internal sealed class ReduceCounters
{
    private long _reduces;
    private long _reduced;
    private long _errors;
    private long _groups;

    /// <summary>The number of calls of the reduce.</summary>
    public long Reduces { get => Volatile.Read(ref _reduces); set => Volatile.Write(ref _reduces, value); }

    /// <summary>The number of objects passed to it.</summary>
    public long Reduced { get => Volatile.Read(ref _reduced); set => Volatile.Write(ref _reduced, value); }

    /// <summary>The number of calls that failed.</summary>
    public long Errors { get => Volatile.Read(ref _errors); set => Volatile.Write(ref _errors, value); }

    /// <summary>The number of groups updated after changes.</summary>
    public long Groups { get => Volatile.Read(ref _groups); set => Volatile.Write(ref _groups, value); }

    /// <summary>Adds the counts of a batch.</summary>
    public void Add(ReduceCounters batch)
    {
        Reduces += batch.Reduces;
        Reduced += batch.Reduced;
        Errors += batch.Errors;
        Groups += batch.Groups;
    }

    /// <summary>Resets the counters.</summary>
    public void Clear() => Reduces = Reduced = Errors = Groups = 0;
}
