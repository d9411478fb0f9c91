namespace Treepie.Computing;

/// <summary>
/// What a script may use, each time it is called for a document; over a limit it fails, and what it was part of changes nothing.
/// Immutable.
/// </summary>
public sealed record ScriptLimits
{
    /// <summary>Most statements. Default 100,000.</summary>
    public int MaxStatements { get; init; } = 100_000;

    /// <summary>Most calls within calls. Default 64.</summary>
    public int MaxDepth { get; init; } = 64;

    /// <summary>Longest time. Default one second.</summary>
    public TimeSpan MaxTime { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Most bytes it may take from the memory, whether or not it still holds them. Default 16 MiB.</summary>
    public long MaxMemoryBytes { get; init; } = 16L << 20;

    /// <summary>Longest string, in characters, and longest array. Default 1,048,576.</summary>
    public int MaxLength { get; init; } = 1 << 20;

    /// <summary>Longest time of one match of a regular expression. Default 100 ms.</summary>
    public TimeSpan MaxRegexTime { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>How many times slower a script may be on a busy machine than it is.</summary>
    internal const int BusyFactor = 10;

    /// <summary>
    /// The same for a script that did not keep its times: a second try shows whether it is slow, or the machine was busy.
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
