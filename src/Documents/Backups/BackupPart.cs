namespace Treepie.Backups;

/// <summary>One part of a backup chain: a full backup, an increment, or a log backup.</summary>
/// <param name="Name">The name used in messages: the name of its file.</param>
/// <param name="OpenAsync">Opens the part at its beginning; may be called more than once. The caller disposes the stream.</param>
public sealed record BackupPart(string Name, Func<CancellationToken, ValueTask<Stream>> OpenAsync)
{
    /// <summary>
    /// For a logical increment found in a listing: all backups that it may continue, newest first. Which one it continues is
    /// determined when it is read (<see cref="DumpLinks"/>). Null: the chain was given explicitly.
    /// </summary>
    internal IReadOnlyList<BackupPart>? Earlier { get; init; }

    /// <summary>Returns the part in a file.</summary>
    public static BackupPart OfFile(string path)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        return new BackupPart(
            Path.GetFileName(path),
            _ => ValueTask.FromResult<Stream>(
                new FileStream(
                    path, FileMode.Open, FileAccess.Read, FileShare.Read, 128 * 1024,
                    FileOptions.SequentialScan | FileOptions.Asynchronous)));
    }
}
