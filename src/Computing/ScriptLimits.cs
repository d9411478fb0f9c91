namespace Treepie.Computing;

/// <summary>
/// Limits for each execution of a script on a document. A script that exceeds a limit fails, and the operation it belongs to
/// changes nothing. Immutable.
/// </summary>
public sealed record ScriptLimits
{
    /// <summary>The maximum number of statements. Default: 100,000.</summary>
    public int MaxStatements { get; init; } = 100_000;

    /// <summary>The maximum depth of nested calls. Default: 64.</summary>
    public int MaxDepth { get; init; } = 64;

    /// <summary>The maximum execution time. Default: one second.</summary>
    public TimeSpan MaxTime { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The maximum number of bytes allocated, whether they are still in use or not. Default: 16 MiB.</summary>
    public long MaxMemoryBytes { get; init; } = 16L << 20;

    /// <summary>The maximum length of a string, in characters, and of an array. Default: 1,048,576.</summary>
    public int MaxLength { get; init; } = 1 << 20;

    /// <summary>The maximum time of one match of a regular expression. Default: 100 ms.</summary>
    public TimeSpan MaxRegexTime { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>The factor by which a script may be slower on a busy machine.</summary>
    internal const int BusyFactor = 10;

    /// <summary>
    /// The limits for the second attempt of a script that exceeded a time limit, which shows whether the script is slow or
    /// the machine was busy.
    /// </summary>
    internal ScriptLimits OfBusyMachine =>
        this with { MaxTime = MaxTime * BusyFactor, MaxRegexTime = MaxRegexTime * BusyFactor };

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxStatements, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxDepth, 1);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(MaxTime, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxMemoryBytes, 1 << 16);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxLength, 1);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(MaxRegexTime, TimeSpan.Zero);
    }
}
