namespace Treepie.Indexes.States;

/// <summary>What reducing has taken since an index was opened. Written by the thread that reduces, read by any.</summary>
internal sealed class ReduceCounters
{
    private long _reduces;
    private long _reduced;
    private long _errors;
    private long _groups;

    /// <summary>Calls of the reduce.</summary>
    public long Reduces { get => Volatile.Read(ref _reduces); set => Volatile.Write(ref _reduces, value); }

    /// <summary>Objects that it was given.</summary>
    public long Reduced { get => Volatile.Read(ref _reduced); set => Volatile.Write(ref _reduced, value); }

    /// <summary>Calls that failed.</summary>
    public long Errors { get => Volatile.Read(ref _errors); set => Volatile.Write(ref _errors, value); }

    /// <summary>Groups that were brought in line with changes.</summary>
    public long Groups { get => Volatile.Read(ref _groups); set => Volatile.Write(ref _groups, value); }
}
