namespace Treepie.Storage.Backups;

/// <summary>The point up to which a chain is read. Immutable.</summary>
public sealed record BackupChainOptions
{
    /// <summary>The last commit: the chain is read up to the newest state that is not later. Null: to its end.</summary>
    public long? StopAtCommit { get; init; }

    /// <summary>The time after which commits are ignored. Null: to its end.</summary>
    public DateTimeOffset? StopAtTime { get; init; }

    internal long StopAtMs => StopAtTime?.ToUnixTimeMilliseconds() ?? long.MaxValue;
}
