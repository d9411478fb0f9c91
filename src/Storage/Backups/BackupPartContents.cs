namespace Treepie.Storage.Backups;

/// <summary>What a part holds: enough for another one to go on from it.</summary>
/// <param name="Header">What it says of itself.</param>
/// <param name="Hash">Its hash, in hexadecimal.</param>
/// <param name="Stores">Stores in it, those left out that were lost, the first one first; none in a log.</param>
public sealed record BackupPartContents(BackupPartHeader Header, string Hash, IReadOnlyList<BackupPartStore> Stores)
{
    /// <summary>
    /// Reads a part to its end; only checksums and the order of frames are looked at, which is what proves it whole.
    /// </summary>
    /// <exception cref="BackupPartException">It is not whole.</exception>
    public static async Task<BackupPartContents> ReadAsync(BackupChainPart part, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(part);
        using BackupPartReader reader = await BackupPartReader.OpenAsync(
            await part.OpenAsync(cancellationToken).ConfigureAwait(false), part.Name, cancellationToken).ConfigureAwait(false);
        var stores = new List<BackupPartStore>();
        for (PartFrameKind kind; (kind = await reader.ReadAsync(cancellationToken).ConfigureAwait(false)) != PartFrameKind.End;)
        {
            if (kind == PartFrameKind.Store)
            {
                StoreRecord record = StoreRecord.TryRead(reader.Content)
                    ?? throw reader.Inconsistent("a store in it cannot be one");
                stores.Add(new BackupPartStore(record.Name, record.StoreId, record.Commit));
            }
            else if (kind == PartFrameKind.StoreLost && stores.Count > 0)
            {
                stores.RemoveAt(stores.Count - 1);
            }
        }

        return new BackupPartContents(reader.Header, reader.Hash, stores);
    }
}

/// <summary>A store in a part.</summary>
/// <param name="Name">What it is called there.</param>
/// <param name="StoreId">The store.</param>
/// <param name="Commit">The commit whose state it is.</param>
public sealed record BackupPartStore(string Name, Guid StoreId, long Commit);
