using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>How to bring the content of a backup into a database that has other content. Immutable.</summary>
public sealed record ImportOptions
{
    /// <summary>The key the backup was sealed with; null for a plain one.</summary>
    public EncryptionKey? BackupKey { get; init; }

    /// <summary>
    /// What is taken of it. Default all but tombstones, which say nothing of another database's documents and are never taken.
    /// </summary>
    public BackupContent Content { get; init; } = BackupContent.All;

    /// <summary>Collections (case-insensitive) whose documents are taken; null: all.</summary>
    public IReadOnlyList<string>? Collections { get; init; }

    /// <summary>
    /// Leaves documents out that are none or are over a limit, and lists them in the report, instead of stopping there. Default
    /// false.
    /// </summary>
    public bool SkipInvalidDocuments { get; init; }

    /// <summary>
    /// A key that is tried where the backup is sealed and no <see cref="BackupKey"/> is given: that of the database itself.
    /// </summary>
    internal EncryptionKey? OwnKey { get; init; }

    /// <summary>The same, for a backup that was sealed with a key.</summary>
    public ImportOptions OpenedWith(BackupKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return this with { BackupKey = key.Key };
    }
}
