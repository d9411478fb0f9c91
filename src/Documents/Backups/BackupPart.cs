namespace Treepie.Backups;

/// <summary>One part of a backup: a full one, an increment, or a stretch of the log.</summary>
/// <param name="Name">What messages call it: the name of its file.</param>
/// <param name="OpenAsync">Opens it from its beginning; may be called more than once. Who opens it closes it.</param>
public sealed record BackupPart(string Name, Func<CancellationToken, ValueTask<Stream>> OpenAsync)
{
    /// <summary>
    /// Whether it was found in a listing, among which may be increments that nothing goes on from: their writer was killed before
    /// it took note of them. Such a one is left out of a chain.
    /// </summary>
    internal bool MayBeAbandoned { get; init; }

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
