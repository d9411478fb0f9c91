namespace Treepie.Backups;

/// <summary>One part of a backup: a full one, an increment, or a stretch of the log.</summary>
/// <param name="Name">What messages call it: the name of its file.</param>
/// <param name="OpenAsync">Opens it from its beginning; may be called more than once. Who opens it closes it.</param>
public sealed record BackupPart(string Name, Func<CancellationToken, ValueTask<Stream>> OpenAsync)
{
    /// <summary>
    /// Of a logical increment that was found in a listing: all that may lead to it, the latest first. What does is found out when
    /// it is read (<see cref="DumpLinks"/>). Null: what leads to it was named.
    /// </summary>
    internal IReadOnlyList<BackupPart>? Earlier { get; init; }

    /// <summary>A file.</summary>
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
