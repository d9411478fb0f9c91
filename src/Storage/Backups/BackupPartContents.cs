namespace Treepie.Storage.Backups;

/// <summary>The contents of a part, as needed for another part to continue it.</summary>
/// <param name="Header">The header of the part.</param>
/// <param name="Hash">The hash of the part, in hexadecimal.</param>
/// <param name="Stores">The stores in the part, except those given up, the first one first; empty for a log.</param>
public sealed record BackupPartContents(BackupPartHeader Header, string Hash, IReadOnlyList<BackupPartStore> Stores)
{
    /// <summary>
    /// Reads a part in full; verifies only the checksums and the order of frames, which suffices to prove that it is intact.
    /// </summary>
    /// <exception cref="BackupPartException">The part is not intact.</exception>
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
                    ?? throw reader.Inconsistent("a record of a store is invalid");
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
/// <param name="Name">The name of the store in the part.</param>
/// <param name="StoreId">The id of the store.</param>
/// <param name="Commit">The commit whose state it is.</param>
public sealed record BackupPartStore(string Name, Guid StoreId, long Commit);
