namespace Treepie.Storage.Backups;

/// <summary>Up to where a chain is read. Immutable.</summary>
public sealed record BackupChainOptions
{
    /// <summary>The last commit: the chain is read to the newest state up to it. Null: to its end.</summary>
    public long? StopAtCommit { get; init; }

    /// <summary>Time after which no commit counts. Null: to its end.</summary>
    public DateTimeOffset? StopAtTime { get; init; }

    internal long StopAtMs => StopAtTime?.ToUnixTimeMilliseconds() ?? long.MaxValue;
}
